// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// formats holds the four formats that a form may ask for (client/elicitation,
// Requested Schema).
var formats = map[string]func(string) bool{
	"email":     isEmail,
	"uri":       isURI,
	"date":      isDate,
	"date-time": isDateTime,
}

var wantFormat = map[string]string{
	"email":     "an e-mail address such as user@example.com, without a display name",
	"uri":       "an absolute URI such as https://example.com/",
	"date":      "a date such as 2026-07-28",
	"date-time": "a date and time with its offset, such as 2026-07-28T12:00:00Z",
}

// isEmail accepts a bare RFC 5321 address in ASCII. The standard library's
// parser reads whole header fields; an address that it would write differently
// came with something that is not part of one.
func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.String() == "<"+s+">" && isASCII(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// isURI accepts an absolute URI of RFC 3986. url.Parse lets through characters
// that have to be escaped, so they are looked for first.
func isURI(s string) bool {
	const punctuation = "-._~:/?#[]@!$&'()*+,;=%"
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && strings.IndexByte(punctuation, c) < 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || len(s) == len(u.Scheme)+1 {
		return false
	}
	if scheme := strings.ToLower(u.Scheme); scheme == "http" || scheme == "https" {
		return u.Hostname() != ""
	}
	return true
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// dateTime is the shape of RFC 3339, section 5.6. time.Parse checks the
// calendar; it would take a one-digit hour, a comma and an offset of a day, and
// does not know the small letters and the leap second that the RFC allows.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func isDateTime(s string) bool {
	if !dateTime.MatchString(s) {
		return false
	}
	const seconds = len("2006-01-02T15:04:")
	s = strings.ToUpper(s)
	leap := s[seconds:seconds+2] == "60"
	if leap {
		s = s[:seconds] + "59" + s[seconds+2:]
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return false
	}
	return !leap || t.UTC().Hour() == 23 && t.UTC().Minute() == 59
}
