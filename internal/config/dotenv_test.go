package config

import (
	"slices"
	"strings"
	"testing"
)

func TestParseEnvFile(t *testing.T) {
	for _, c := range []struct {
		rule, in string
		want     []envVariable
		err      string
	}{
		{"names and values", "A=1\nB = two words \n", []envVariable{{"A", "1"}, {"B", "two words"}}, ""},
		{"blank lines, comments and export", "\n# x\nexport A=1\r\n", []envVariable{{"A", "1"}}, ""},
		{"a value may hold =", "A=b=c", []envVariable{{"A", "b=c"}}, ""},
		{"an empty value", "A=\nB=\"\"", []envVariable{{"A", ""}, {"B", ""}}, ""},
		{"a comment behind a value", "A=x # y\nB=x#y", []envVariable{{"A", "x"}, {"B", "x#y"}}, ""},
		{"single quotes keep everything", `A='a\n # $B'`, []envVariable{{"A", `a\n # $B`}}, ""},
		{"double quotes have escapes", `A="a\n\"b\"\\\d" # c`, []envVariable{{"A", "a\n\"b\"\\\\d"}}, ""},
		{"a line without = is refused, and not shown", "A=1\nsecret words", nil, "line 2 of the env file is not NAME=value"},
		{"an unclosed quote is", "A='x", nil, "line 1 of the env file has a quote that is not closed"},
		{"so is text behind a quote", "A='x'y", nil, "line 1 of the env file has a quote that is not closed"},
	} {
		got, err := parseEnvFile([]byte(c.in))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !slices.Equal(got, c.want) {
			t.Errorf("%s: parseEnvFile(%q) = %q, %v, want %q, %q", c.rule, c.in, got, err, c.want, c.err)
		}
	}
}
