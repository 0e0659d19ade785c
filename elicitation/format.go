// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// formats holds the four formats that a form may ask for (client/elicitation,
// Requested Schema). What they accept stands in the documentation of Schema.
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

// mailbox is the shape of RFC 5321, section 4.1.2: a dot-string or a quoted
// string, and a domain or the literal address of a host. net/mail reads header
// fields instead, with their comments, and domains that are no host names.
var mailbox = regexp.MustCompile(`^(?:[\w!#$%&'*+/=?^{|}~\x60-]+(?:\.[\w!#$%&'*+/=?^{|}~\x60-]+)*|"(?:[ !#-\[\]-~]|\\[ -~])*")@` +
	`(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[([0-9.]+|IPv6:[0-9A-Fa-f:.]+)\])$`)

func isEmail(s string) bool {
	parts := mailbox.FindStringSubmatch(s)
	if parts == nil {
		return false
	}
	if literal := parts[1]; literal != "" {
		six, isSix := strings.CutPrefix(literal, "IPv6:")
		address, err := netip.ParseAddr(six)
		return err == nil && address.Is4() != isSix
	}
	return true
}

// isURI accepts an absolute URI of RFC 3986. url.Parse checks its parts, but
// lets through what has to be escaped, so that is looked for first.
func isURI(s string) bool {
	const punctuation = "-._~:/?#[]@!$&'()*+,;=%"
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		escape := c != '%' || i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		if !escape || !letter && !digit && strings.IndexByte(punctuation, c) < 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || len(s) == len(u.Scheme)+1 || strings.Count(s, "#") > 1 {
		return false
	}
	// Brackets enclose the address of a host and stand nowhere else.
	if brackets := strings.Count(s, "[") + strings.Count(s, "]"); brackets > 0 && (brackets != 2 || !strings.HasPrefix(u.Host, "[")) {
		return false
	}
	if u.Scheme == "http" || u.Scheme == "https" { // url.Parse made it lower case
		return u.Hostname() != ""
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
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
