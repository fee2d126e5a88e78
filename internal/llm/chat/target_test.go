package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/rawjson"
)

// TestTargetGrowsWithTheText: a share of a long file is left, and less of it if the assistant names
// a function.
func TestTargetGrowsWithTheText(t *testing.T) {
	s := DefaultPruning()
	s.Enabled = true
	left := func(text, said string) int {
		call := `raw:{"role":"assistant","content":` + quote(said) + `,"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}}]}`
		conv, at := jobs(t, s, nil, "u:go on", call, "t:1="+text)
		if len(at) != 1 {
			t.Fatalf("jobs at %v", at)
		}
		out, ok := conv.Prune(s, conv.Jobs(s, Past{})[0], someID, nil)
		if !ok {
			t.Fatal("not pruned")
		}
		return rawjson.Chars(out)
	}
	text := bigFile(600)
	size := rawjson.Chars(text)
	unnamed, named := left(text, "Now I read it."), left(text, "I look at function_77 now.")
	if unnamed < size/3 || unnamed > size*2/3 {
		t.Errorf("%d of %d characters are left where nothing is named", unnamed, size)
	}
	if named > size/5 {
		t.Errorf("%d of %d characters are left where a function is named", named, size)
	}
	var words strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&words, "a line %d that a command has printed, of no kind at all\n", i)
	}
	size = rawjson.Chars(words.String())
	if n := left(words.String(), "I run it."); n < size/8 || n > size/3 {
		t.Errorf("%d of %d characters are left of other texts", n, size)
	}
}
