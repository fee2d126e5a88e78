package config

import (
	"testing"

	"secateur/internal/config/document"
)

func TestBlankComments(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"a line comment", "{} // x\n", "{}     \n"},
		{"a block comment keeps its line ends", "{/*a\r\nb*/}", "{   \r\n   }"},
		{"a comment in a string is none", `{"//": "/*"}`, `{"//": "/*"}`},
		{"an escaped quote does not end a string", `{"\"//": 1}`, `{"\"//": 1}`},
		{"a comma before a bracket", `[1, ]`, `[1  ]`},
		{"and before a brace, with a comment between", "{\"a\":1,/**/\n}", "{\"a\":1     \n}"},
		{"a comma that follows nothing stays", `[,]`, `[,]`},
		{"in an object too", `{ , }`, `{ , }`},
		{"of two commas both stay", `[1,,]`, `[1,,]`},
		{"a comment that is never closed stays", `{} /* x`, `{} /* x`},
		{"a lone slash stays", `{} / x`, `{} / x`},
	} {
		if got := string(document.PlainJSON([]byte(c.in))); got != c.want {
			t.Errorf("%s: PlainJSON(%q) = %q, want %q", c.rule, c.in, got, c.want)
		}
	}
}
