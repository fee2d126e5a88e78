package pins

import (
	"fmt"
	"slices"
	"testing"
)

// An approval from elsewhere counts here only if the tool has the same definition.
func TestApproveSame(t *testing.T) {
	tool := func(name, about string) [][]byte {
		return [][]byte{fmt.Appendf(nil, `{"name":%q,"description":%q}`, name, about)}
	}
	here, there := t.TempDir(), t.TempDir()
	a, b := NewBook(there, nil), NewBook(here, nil)
	for _, name := range []string{"same", "other", "unchanged"} {
		a.See(t.Context(), "s", Tool, tool(name, "as it was"), false)
		b.See(t.Context(), "s", Tool, tool(name, "as it was"), false)
	}
	a.See(t.Context(), "s", Tool, tool("same", "new"), false)
	a.See(t.Context(), "s", Tool, tool("other", "new"), false)
	b.See(t.Context(), "s", Tool, tool("same", "new"), false)
	b.See(t.Context(), "s", Tool, tool("other", "bad"), false)
	approved, err := Approve(there, "s", "")
	if err != nil || len(approved) != 2 {
		t.Fatal(approved, err)
	}
	told, err := Approvals(there, "s", append(approved, "unchanged", "nobody's"))
	if err != nil || len(told) != 3 {
		t.Fatal(told, err)
	}
	if got, err := ApproveSame(here, "s", told); err != nil || !slices.Equal(got, []string{"same"}) {
		t.Errorf("ApproveSame = %q, %v, want the tool that has become the same", got, err)
	}
	after := NewBook(here, nil)
	after.See(t.Context(), "s", Tool, tool("same", "new"), false)
	after.See(t.Context(), "s", Tool, tool("other", "bad"), false)
	if after.State("s", Tool, "same") != StatePinned || after.State("s", Tool, "other") != StateChanged || after.State("s", Tool, "unchanged") != StatePinned {
		t.Errorf("same %s, other %s, unchanged %s", after.State("s", Tool, "same"), after.State("s", Tool, "other"), after.State("s", Tool, "unchanged"))
	}
	if got, err := ApproveSame(here, "s", told); err != nil || len(got) > 0 {
		t.Errorf("once more: %q, %v", got, err)
	}
	revoked, err := Revoke(there, "s", "")
	if err != nil || len(revoked) != 2 {
		t.Fatal(revoked, err)
	}
	if told, err = Revocations(there, "s", revoked); err != nil || len(told) != 2 {
		t.Fatal(told, err)
	}
	if got, err := RevokeSame(here, "s", told); err != nil || !slices.Equal(got, []string{"same"}) {
		t.Errorf("RevokeSame = %q, %v, want the tool that was approved here too", got, err)
	}
}
