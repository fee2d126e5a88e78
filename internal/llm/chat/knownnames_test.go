package chat

import (
	"fmt"
	"strings"
	"testing"
)

// TestKnownNames: names said by the user or the model are known, in any escaping; names only in
// results are not.
func TestKnownNames(t *testing.T) {
	body := talk("u:look at\nfirst_name and \"second_name\"", "a:1", "t:1=only_in_a_result", `raw:{"role":"assistant","content":"then\tthird_name, see C:\\next_name"}`, "a:2", "t:2=x")
	c := reading(t, body)
	last := len(c.Messages) - 1
	known := c.knownNames(last, "first_name second_name third_name only_in_a_result never_said next_name", nil)
	for name, want := range map[string]bool{
		"first_name": true, "second_name": true, "third_name": true, "only_in_a_result": false, "never_said": false, "not_even_asked_for": false,
	} {
		if known(name) != want {
			t.Errorf("%s: known is %t", name, !want)
		}
	}
}

// TestKnownNamesOfCalls: the arguments of a call count, also if they are escaped twice in a string.
func TestKnownNamesOfCalls(t *testing.T) {
	known := map[string]bool{"old_name": false, "new_name": false, "nold_name": false}
	markKnown(known, []byte(`"{\"old\":\"x\\nold_name\",\"new\":\"\\\\new_name\"}"`))
	if !known["old_name"] || known["nold_name"] {
		t.Errorf("%v", known)
	}
}

// TestKnownNamesMakeRoom: no lines or markers are spent on names that were said before.
func TestKnownNamesMakeRoom(t *testing.T) {
	var text, said strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "call(told_before_%03d)\ncall(never_told_%03d)\n", i, i)
		fmt.Fprintf(&said, " told_before_%03d", i)
	}
	s := DefaultPruning()
	s.Enabled, s.MinChars, s.TargetChars = true, 1000, 2000
	names := func(asked string) (told, never int) {
		conv := reading(t, talk("u:look at it", `raw:{"role":"assistant","content":"`+asked+`"}`, "u:so do it", "a:1", "t:1="+text.String()))
		out, ok := conv.Prune(s, Job{Message: len(conv.Messages) - 1}, someID, nil)
		if !ok {
			t.Fatal("not pruned")
		}
		return strings.Count(out, "told_before_"), strings.Count(out, "never_told_")
	}
	_, unsaid := names("yes")
	if told, never := names(said.String() + strings.Repeat(" and more", 200)); never <= unsaid || never <= 2*told {
		t.Errorf("%d new names stay where the others were said before, with %d of these; %d where they were not", never, told, unsaid)
	}
}
