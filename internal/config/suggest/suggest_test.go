package suggest_test

import (
	"testing"

	"secateur/internal/config/suggest"
)

func TestNearest(t *testing.T) {
	known := []string{"listen", "log_level", "servers", "serve", "status"}
	for _, c := range []struct{ rule, unknown, want string }{
		{"a letter missing", "lisen", "listen"},
		{"two letters swapped", "statsu", "status"},
		{"another way of writing the same", "logLevel", "log_level"},
		{"the nearer of two", "server", "servers"},
		{"nothing near", "nonsense", ""},
		{"too long to be a slip", string(make([]byte, 65)), ""},
	} {
		if got := suggest.Nearest(c.unknown, known); got != c.want {
			t.Errorf("%s: Nearest(%q) = %q, want %q", c.rule, c.unknown, got, c.want)
		}
	}
}
