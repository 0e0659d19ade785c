// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"slices"
	"strings"
	"unicode"
)

// What a user types into a form passes through the client and may reach its
// model and its logs. The specification therefore forbids to ask for secrets
// that way ("Servers MUST NOT use form mode elicitation to request sensitive
// information such as passwords, API keys, access tokens, or payment
// credentials") and no program can decide from a schema what it is going to be
// used for. This check catches the honest mistake: it reads names, titles and
// descriptions as words, in English, and looks for a secret that is itself what
// is asked for. It errs towards letting through what only mentions one
// (token_count, "name of the API key"); a boolean or a choice among offered
// values cannot hold a secret and is never refused.
//
// There is no way yet for an author to overrule it for one field, with a
// reason; checkSensitive is the place for it.

const useURLMode = "a form may not ask for a secret (%s), because its answers pass through the client: ask in URL mode, on a page of your own (client/elicitation, URL Mode)"

func (p *property) checkSensitive() error {
	if p.shape == booleanShape || p.shape == singleShape || p.shape == multiShape {
		return nil
	}
	found := secretFormat(p.format)
	if found == "" {
		found = findSecret(p.name, isLabelled)
	}
	if found == "" {
		found = findSecret(p.title, isLabelled)
	}
	if found == "" {
		found = findSecret(p.description, isRequested)
	}
	if found == "" {
		return nil
	}
	err := p.errorf(useURLMode, found).(*SchemaError)
	err.Sensitive = true
	return err
}

// secretFormat answers for formats that other dialects have for secrets.
func secretFormat(format string) string {
	if f := strings.ToLower(format); slices.Contains([]string{"password", "secret", "credit-card"}, f) {
		return f
	}
	return ""
}

// secrets are the phrases for things that grant access or authorise payments,
// the longer before the shorter where one ends in the other.
var secrets = phrases(`
	password; passwords; passwd; passphrase; passcode; pwd
	api key; api keys; apikey; access key; secret key; secretkey; private key; privatekey
	encryption key; signing key; auth key; service account key; recovery key
	token; apitoken; accesstoken; authtoken; refreshtoken; access tokens; api tokens; jwt
	secret; client secret; clientsecret; credential; credentials; session cookie
	pin; pin code; pin number; otp code; otp; totp; one time code; verification code; security code; auth code
	authentication code; authorization code; mfa code; 2 fa code; 2fa code; recovery code; backup code
	seed phrase; recovery phrase
	card number; cardnumber; card no; cc number; credit card; creditcard; debit card; card security code
	cvv; cvc; card verification code; card verification value; iban; bank account number
`)

// harmless are phrases that end like a secret and are none.
var harmless = phrases(`
	page token; next token; continuation token; cancellation token; cancel token; sync token; cursor token
	progress token; design token
`)

func phrases(list string) [][]string {
	var all [][]string
	for _, phrase := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == '\n' }) {
		if words := strings.Fields(phrase); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// findSecret returns the phrase by which text asks for a secret, or "". The
// function asks tells whether the words before a phrase make it the thing that
// is asked for.
func findSecret(text string, asks func(before []string) bool) string {
	for _, clause := range clauses(text) {
		for i := range clause {
			for _, phrase := range secrets {
				end := i + len(phrase)
				if end > len(clause) || !slices.Equal(clause[i:end], phrase) {
					continue
				}
				if !isHead(clause[end:]) || isAttribute(clause[:i]) || endsHarmless(clause[:end]) {
					continue
				}
				if asks(clause[:i]) {
					return strings.Join(phrase, " ")
				}
			}
		}
	}
	return ""
}

// isHead reports whether a phrase that is followed by these words stands for
// itself. In "token count" and "password policy" it only qualifies a noun.
func isHead(after []string) bool {
	return len(after) == 0 || slices.Contains(following, after[0])
}

var following = strings.Fields(`
	a again also an and are as at before below can confirm confirmation current edit for from goes has have
	here if in input is issued it may must new of old on or repeat repeated should so text that the this to
	used using value was we which will with you your`)

// isAttribute reports whether the words before a phrase ask for something about
// it: "name of the", "label for your new".
func isAttribute(before []string) bool {
	for i := len(before) - 1; i > 0 && i >= len(before)-5; i-- {
		if before[i] == "of" || before[i] == "for" {
			return slices.Contains(attributes, before[i-1])
		}
	}
	return slices.ContainsFunc(before, func(w string) bool { return slices.Contains(negations, w) })
}

var attributes = strings.Fields(`
	age amount count date description duration expiration expiry format id identifier kind label length lifetime
	name number owner path period purpose scope scopes size status title type version`)

var negations = strings.Fields(`no not never don't without cannot`)

func endsHarmless(words []string) bool {
	return slices.ContainsFunc(harmless, func(phrase []string) bool {
		return len(words) >= len(phrase) && slices.Equal(words[len(words)-len(phrase):], phrase)
	})
}

// isLabelled is for names and titles, which name what is asked for.
func isLabelled([]string) bool { return true }

// isRequested is for descriptions, which may mention a secret in passing. One
// is asked for if the sentence begins with it or tells the user to give it.
func isRequested(before []string) bool {
	if len(before) <= 3 && !slices.ContainsFunc(before, func(w string) bool { return slices.Contains(relations, w) }) {
		return true
	}
	for i := len(before) - 1; i >= max(0, len(before)-6); i-- {
		switch w := before[i]; {
		case slices.Contains(requests, w):
			return true
		case w != "of" && w != "and" && slices.Contains(relations, w):
			return false
		}
	}
	return false
}

var relations = strings.Fields(`about after and as at before by charged for from how in is of on or per that to uses using when where which whose with`)

var requests = strings.Fields(`enter give input insert paste provide submit supply type`)

// clauses splits text at punctuation and each part into lower-case words, also
// where an identifier changes case or uses underscores: apiKey, API_KEY, APIKey.
func clauses(text string) [][]string {
	var all [][]string
	var clause []string
	var word []rune
	endWord := func() {
		w := strings.Trim(strings.ToLower(string(word)), "'")
		if trimmed := strings.TrimRight(w, "0123456789"); trimmed != "" {
			w = trimmed // password2
		}
		if w != "" {
			clause = append(clause, w)
		}
		word = word[:0]
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'':
			lower := func(at int) bool { return at >= 0 && at < len(runes) && unicode.IsLower(runes[at]) }
			startsWord := unicode.IsUpper(r) && (lower(i-1) || lower(i+1) && i > 0 && unicode.IsUpper(runes[i-1]))
			if startsWord {
				endWord()
			}
			word = append(word, r)
		case r == '_' || r == '-' || unicode.IsSpace(r) || r == '/':
			endWord()
		default:
			endWord()
			all, clause = append(all, clause), nil
		}
	}
	endWord()
	return append(all, clause)
}
