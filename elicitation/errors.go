// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"fmt"
	"strings"
)

// A SchemaError says why a form cannot be asked. It is the author's to fix
// and appears when the form is built, never while a user waits.
type SchemaError struct {
	// Property is the JSON name of the offending property; empty when the
	// fault is in the form as a whole.
	Property string
	// Field is the Go name of the struct field; empty for a hand-written
	// schema.
	Field string
	// Reason says what is wrong and what to do instead.
	Reason string
	// Sensitive is set when the property asks for a secret, which only URL
	// mode may do (client/elicitation, User Interaction Model).
	Sensitive bool
}

// Error names the field, or else the property, and gives the reason.
func (e *SchemaError) Error() string {
	switch {
	case e.Field != "":
		return fmt.Sprintf("elicitation: form field %s: %s", e.Field, e.Reason)
	case e.Property != "":
		return fmt.Sprintf("elicitation: form property %q: %s", e.Property, e.Reason)
	}
	return "elicitation: form: " + e.Reason
}

// A Rule names what an answer can break. The texts of most are the schema's
// own keywords.
type Rule string

// The rules.
const (
	RuleJSON      Rule = "json"        // one JSON value: UTF-8, no duplicate or misspelt member names
	RuleAction    Rule = "action"      // exactly accept, decline or cancel
	RuleRequired  Rule = "required"    // a required property is there
	RuleType      Rule = "type"        // the right JSON type; nothing is coerced, null is no value
	RuleMinLength Rule = "minLength"   // counted in characters (Unicode code points)
	RuleMaxLength Rule = "maxLength"   // counted in characters (Unicode code points)
	RuleFormat    Rule = "format"      // email, uri, date or date-time, as Schema says
	RuleMinimum   Rule = "minimum"     // compared exactly, never by rounded floats
	RuleMaximum   Rule = "maximum"     // compared exactly, never by rounded floats
	RuleFits      Rule = "fits"        // the number fits the Go type of its field
	RuleEnum      Rule = "enum"        // one of the values offered; their titles are not values
	RuleMinItems  Rule = "minItems"    // counted as they were sent, an option that is there twice included
	RuleMaxItems  Rule = "maxItems"    // counted as they were sent, an option that is there twice included
	RuleUnique    Rule = "uniqueItems" // no option is chosen twice
)

// A Violation is one rule that an answer broke. It never holds a value of the
// answer, so it can be logged and shown.
type Violation struct {
	// Property is the name of the property, always one of the question's own;
	// empty when the answer as a whole is at fault.
	Property string
	// Rule is the rule that was broken.
	Rule Rule
	// Want says what would have been right, such as "at most 20 characters".
	Want string
}

// String returns the violation as a phrase, such as
// `note: want at most 20 characters`.
func (v Violation) String() string {
	if v.Property == "" {
		return "want " + v.Want
	}
	return v.Property + ": want " + v.Want
}

// An AnswerError says that a response is no valid answer to the question. It
// lists every violation that was found, in the order in which the question
// declares its properties, and holds no value of the answer.
type AnswerError struct {
	Violations []Violation // at least one
}

// Error lists the violations in one line, fit for a log and for a client.
func (e *AnswerError) Error() string {
	var b strings.Builder
	b.WriteString("elicitation: not a valid answer, ask again: ")
	for i, v := range e.Violations {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.String())
	}
	return b.String()
}

func answerError(rule Rule, want string) *AnswerError {
	return &AnswerError{Violations: []Violation{{Rule: rule, Want: want}}}
}
