// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// paths are the capabilities that matter for questions, by their place in ClientCapabilities.
var paths = [...]string{"elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"}

// Capabilities are what a client declared on one request, as a set of paths: "elicitation.form", "elicitation.url",
// "sampling", "sampling.tools", "sampling.context" and "roots". The zero value is the empty set. Sets compare with ==.
type Capabilities struct{ bits uint8 } // bit i: paths[i]

// Declare returns the set of these paths. Paths that this package does not know are not in it, so nothing is granted by a
// misspelling.
func Declare(path ...string) Capabilities {
	var c Capabilities
	for _, p := range path {
		if i := slices.Index(paths[:], p); i >= 0 {
			c.bits |= 1 << i
		}
	}
	return c
}

// Has reports whether path is declared. An unknown path never is.
func (c Capabilities) Has(path string) bool {
	i := slices.Index(paths[:], path)
	return i >= 0 && c.bits&(1<<i) != 0
}

// String lists the paths, for logs.
func (c Capabilities) String() string {
	var list []string
	for i, path := range paths {
		if c.bits&(1<<i) != 0 {
			list = append(list, path)
		}
	}
	return strings.Join(list, " ")
}

// ParseCapabilities reads a ClientCapabilities object. Extensions, experimental and other members are ignored.
//
// A capability is declared by an object. null declares nothing. Any other type is an [*Error] with [CodeInvalidParams]. An
// elicitation object that is empty declares form mode (client/elicitation, Capabilities); one that is not empty declares
// only the modes that it names.
func ParseCapabilities(raw jsontext.Value) (Capabilities, error) {
	value, err := check(raw)
	if err != nil {
		return Capabilities{}, protocolError(err, CodeInvalidParams)
	}
	var c Capabilities
	if err := c.parse(value); err != nil {
		return Capabilities{}, err
	}
	return c, nil
}

func (c *Capabilities) parse(value jsontext.Value) error {
	if err := object(value, CodeInvalidParams, MetaCapabilities); err != nil {
		return err
	}
	return each(value, func(name []byte, value jsontext.Value) error {
		switch string(name) {
		case "elicitation", "sampling", "roots":
			return c.add(string(name), value)
		}
		return lookalike(name, CodeInvalidParams, "elicitation", "sampling", "roots")
	})
}

// add declares the capability name and what is inside it.
func (c *Capabilities) add(name string, value jsontext.Value) error {
	if value.Kind() == 'n' {
		return nil
	}
	if err := object(value, CodeInvalidParams, name); err != nil {
		return err
	}
	c.bits |= Declare(name).bits
	empty := true
	err := each(value, func(inner []byte, value jsontext.Value) error {
		empty = false
		path := name + "." + string(inner)
		if !slices.Contains(paths[:], path) {
			return lookalike([]byte(path), CodeInvalidParams, paths[:]...)
		}
		if value.Kind() == 'n' {
			return nil
		}
		c.bits |= Declare(path).bits
		return object(value, CodeInvalidParams, path)
	})
	if name == "elicitation" && empty {
		c.bits |= Declare("elicitation.form").bits
	}
	return err
}

// RequiredCapabilities is the data of a [CodeMissingCapability] error: it lists the capabilities at these paths and
// nothing else. The order of the paths does not matter.
func RequiredCapabilities(path ...string) jsontext.Value {
	b := []byte(`{"requiredCapabilities":{`)
	sorted := slices.Compact(slices.Sorted(slices.Values(path)))
	for i := 0; i < len(sorted); {
		outer, _, _ := strings.Cut(sorted[i], ".")
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, outer), `:{`...)
		for first := true; i < len(sorted); i++ {
			o, inner, nested := strings.Cut(sorted[i], ".")
			if o != outer {
				break
			}
			if !nested {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(quote(b, inner), `:{}`...)
		}
		b = append(b, '}')
	}
	return append(b, `}}`...)
}
