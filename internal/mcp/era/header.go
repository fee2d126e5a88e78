package era

import (
	"encoding/base64"
	"strings"
)

// The markers around a base64-encoded header value.
const (
	base64Before = "=?base64?"
	base64After  = "?="
)

// EncodeHeader encodes a text as a header value: unchanged if that is safe, else in base64.
func EncodeHeader(s string) string {
	marked := strings.HasPrefix(s, base64Before) && strings.HasSuffix(s, base64After)
	odd := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if marked || odd || s != strings.Trim(s, " ") {
		return base64Before + base64.StdEncoding.EncodeToString([]byte(s)) + base64After
	}
	return s
}

// EncodeParam is EncodeHeader for a ParamHeader. It also encodes an empty text in base64, because
// some peers treat a header without a value as absent.
func EncodeParam(s string) string {
	if s == "" {
		return base64Before + base64After
	}
	return EncodeHeader(s)
}

// DecodeHeader reverses EncodeHeader. It rejects invalid base64 and characters that headers may not
// contain.
func DecodeHeader(s string) (string, bool) {
	if inner, ok := strings.CutPrefix(s, base64Before); ok {
		if inner, ok = strings.CutSuffix(inner, base64After); ok {
			b, err := base64.StdEncoding.DecodeString(inner)
			return string(b), err == nil
		}
	}
	odd := strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && r < ' ' || r > '~' })
	return s, !odd
}
