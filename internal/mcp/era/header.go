package era

import (
	"encoding/base64"
	"strings"
)

// What stands around a header's value that is in base64.
const (
	base64Before = "=?base64?"
	base64After  = "?="
)

// EncodeHeader writes a text as a header's value: as it is where that is safe, else
// in base64.
func EncodeHeader(s string) string {
	marked := strings.HasPrefix(s, base64Before) && strings.HasSuffix(s, base64After)
	odd := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if marked || odd || s != strings.Trim(s, " ") {
		return base64Before + base64.StdEncoding.EncodeToString([]byte(s)) + base64After
	}
	return s
}

// EncodeParam is EncodeHeader for a ParamHeader. An empty text is written in base64
// too: some peers take a header without a value for none.
func EncodeParam(s string) string {
	if s == "" {
		return base64Before + base64After
	}
	return EncodeHeader(s)
}

// DecodeHeader is the way back from EncodeHeader. It refuses what is marked as
// base64 and is none, and characters that no header may have.
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
