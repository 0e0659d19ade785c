// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const maxName = 64

func checkName(kind, name string) error {
	if fault := nameFault(name); fault != "" {
		return &NameError{Kind: kind, Name: name, Reason: fault}
	}
	return nil
}

// nameFault says what keeps name from being the name of one directory on any file system, or returns "".
func nameFault(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > maxName:
		return fmt.Sprintf("it is longer than %d characters", maxName)
	case !alphanumeric(name[0]):
		return "it must begin with a letter or a digit"
	}
	for i := range len(name) {
		if !alphanumeric(name[i]) && !strings.ContainsRune("._-+", rune(name[i])) {
			return "it may hold only letters, digits and . _ - +"
		}
	}
	return ""
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// version is a version taken apart; ok is false for a name that is none.
type version struct {
	ok      bool
	numbers []string // decimal digits without leading zeros, without trailing "0" parts
	pre     []string // nil: a release
	name    string
}

func parseVersion(name string) version {
	v := version{name: name}
	rest, _, _ := strings.Cut(strings.TrimPrefix(name, "v"), "+")
	core, pre, isPre := strings.Cut(rest, "-")
	for part := range strings.SplitSeq(core, ".") {
		if !digits(part) {
			return v
		}
		v.numbers = append(v.numbers, strings.TrimLeft(part, "0"))
	}
	for len(v.numbers) > 0 && v.numbers[len(v.numbers)-1] == "" {
		v.numbers = v.numbers[:len(v.numbers)-1]
	}
	if isPre {
		v.pre = strings.Split(pre, ".")
	}
	v.ok = true
	return v
}

// compareVersions orders names from old to new. No two names are equal in it unless they are the same.
func compareVersions(a, b string) int {
	x, y := parseVersion(a), parseVersion(b)
	if c := compareBool(x.ok, y.ok); c != 0 {
		return c
	}
	if x.ok {
		if c := slices.CompareFunc(x.numbers, y.numbers, compareNumbers); c != 0 {
			return c
		}
		if c := compareBool(x.pre == nil, y.pre == nil); c != 0 {
			return c
		}
		if c := slices.CompareFunc(x.pre, y.pre, comparePre); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

// compareNumbers compares numbers of any length without leading zeros.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// comparePre compares parts of a pre-release: numbers before words.
func comparePre(a, b string) int {
	if digits(a) && digits(b) {
		return compareNumbers(strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0"))
	}
	return cmp.Or(compareBool(!digits(a), !digits(b)), strings.Compare(a, b))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
