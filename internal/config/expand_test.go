package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "a", "EMPTY": "", "NEST": "${A} $${A}"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for _, c := range []struct {
		rule, in, want string
		literal        bool
		errs           int
	}{
		{"text without variables stays", "a $A $$ {A} }", "a $A $$ {A} }", true, 0},
		{"nothing is no literal", "", "", false, 0},
		{"a variable is replaced", "<${A}>", "<a>", false, 0},
		{"with the prefix env: too", "${env:A}", "a", false, 0},
		{"several are", "${A}${A}", "aa", false, 0},
		{"a set variable may be empty", "${EMPTY}", "", false, 0},
		{"a default stands in for an unset variable, and is a literal", "${B:-x:-y}", "x:-y", true, 0},
		{"and for an empty one", "${EMPTY:-x}", "x", true, 0},
		{"a default that is not used still stands in the file", "${A:-x}", "a", true, 0},
		{"an empty default is none", "${env:B:-}", "", false, 0},
		{"what a variable holds is not expanded again", "${NEST}", "${A} $${A}", false, 0},
		{"$${ is a literal ${", "$${A}${A}$${", "${A}a${", false, 0},
		{"$${ alone leaves a literal", "$${A}", "${A}", true, 0},
		{"an unset variable is an error", "${B}", "", false, 1},
		{"each one is", "${B} ${C}", " ", false, 2},
		{"an unclosed one is", "a${A", "a", false, 1},
		{"an empty name is", "${}", "", false, 1},
		{"a name with a dot is", "${a.b}", "", false, 1},
		{"a variable in a default is", "${B:-${A}}", "}", false, 1},
		{"the editor's variables are", "${workspaceFolder}${workspaceFolder:x}${input:k}${userHome}${/}", "", false, 5},
	} {
		e := expand(c.in, lookup)
		if len(e.errs)+len(e.unset) != c.errs {
			t.Errorf("%s: expand(%q): errors %q, want %d", c.rule, c.in, append(e.errs, e.unset...), c.errs)
		}
		if e.value != c.want || c.errs == 0 && e.literal != c.literal {
			t.Errorf("%s: expand(%q) = %q, literal %v, want %q, %v", c.rule, c.in, e.value, e.literal, c.want, c.literal)
		}
	}
}

// TestExpandEscaped shows that any text can be written so that it arrives unchanged.
func TestExpandEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a$\{\}:\-]{0,12}`).Draw(t, "text")
		if strings.Contains(text, "$${") {
			return // a dollar before an escape cannot be written without a variable
		}
		e := expand(strings.ReplaceAll(text, "${", "$${"), func(string) (string, bool) { return "", false })
		if e.value != text || len(e.errs) > 0 {
			t.Fatalf("%q came back as %q, errors %q", text, e.value, e.errs)
		}
	})
}
