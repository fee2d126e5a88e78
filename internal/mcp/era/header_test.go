package era_test

import (
	"strings"
	"testing"

	"secateur/internal/mcp/era"
)

func TestEncodeHeader(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"us-west1":             "us-west1",
		"us west 1":            "us west 1",
		"s::echo ~!":           "s::echo ~!",
		"Hello, 世界":            "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":             "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":         "=?base64?bGluZTEKbGluZTI=?=",
		"a\tb":                 "=?base64?YQli?=",
		"\x7f":                 "=?base64?fw==?=",
		"=?base64?literal?=":   "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?=":           "=?base64?PT9iYXNlNjQ/PQ==?=",
		"=?base64?open":        "=?base64?open",
		"=?BASE64?YQ==?=":      "=?BASE64?YQ==?=",
		"a =?base64?YQ==?= is": "a =?base64?YQ==?= is",
	} {
		got := era.EncodeHeader(text)
		if got != want {
			t.Errorf("EncodeHeader(%q) = %q, want %q", text, got, want)
		}
		if back, ok := era.DecodeHeader(got); !ok || back != text {
			t.Errorf("DecodeHeader(%q) = %q, %v, want %q", got, back, ok, text)
		}
	}
}

func TestEncodeParam(t *testing.T) {
	for text, want := range map[string]string{"": "=?base64??=", "a b": "a b", " ": "=?base64?IA==?="} {
		got := era.EncodeParam(text)
		if back, ok := era.DecodeHeader(got); got != want || !ok || back != text {
			t.Errorf("EncodeParam(%q) = %q, read back as %q, want %q", text, got, back, want)
		}
	}
}

func TestDecodeHeader(t *testing.T) {
	for _, c := range []struct {
		rule, header, want string
		ok                 bool
	}{
		{"a tab within", "a\tb", "a\tb", true},
		{"an empty text in base64", "=?base64??=", "", true},
		{"base64 of something plain", "=?base64?YQ==?=", "a", true},
		{"broken base64", "=?base64?Y?=", "", false},
		{"base64 without its padding", "=?base64?YQ?=", "", false},
		{"base64 of another alphabet", "=?base64?_-8=?=", "", false},
		{"marks in capitals are text", "=?BASE64?YQ==?=", "=?BASE64?YQ==?=", true},
		{"one mark is text", "=?base64?YQ==", "=?base64?YQ==", true},
		{"what is not ASCII", "é", "é", false},
		{"a control character", "a\x00", "a\x00", false},
		{"a byte that is no text", "\xff", "\xff", false},
	} {
		if got, ok := era.DecodeHeader(c.header); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: DecodeHeader(%q) = %q, %v, want %q, %v", c.rule, c.header, got, ok, c.want, c.ok)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("=?base64?YQ==?=")
	f.Add(" é\n\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, text string) {
		h := era.EncodeHeader(text)
		if strings.ContainsFunc(h, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimSpace(h) != h {
			t.Errorf("EncodeHeader(%q) = %q is not fit for a header", text, h)
		}
		if back, ok := era.DecodeHeader(h); !ok || back != text {
			t.Errorf("%q came back as %q, %v", text, back, ok)
		}
		era.DecodeHeader(text)
	})
}
