package pins

import (
	"fmt"
	"slices"
	"testing"
)

// What was approved of elsewhere is pinned here where the tool has become the same, and nowhere else.
func TestApproveSame(t *testing.T) {
	tool := func(name, about string) [][]byte {
		return [][]byte{fmt.Appendf(nil, `{"name":%q,"description":%q}`, name, about)}
	}
	here, there := t.TempDir(), t.TempDir()
	a, b := NewBook(there, nil), NewBook(here, nil)
	for _, name := range []string{"same", "other", "unchanged"} {
		a.See(t.Context(), "s", tool(name, "as it was"))
		b.See(t.Context(), "s", tool(name, "as it was"))
	}
	a.See(t.Context(), "s", tool("same", "new"))
	a.See(t.Context(), "s", tool("other", "new"))
	b.See(t.Context(), "s", tool("same", "new"))
	b.See(t.Context(), "s", tool("other", "bad"))
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
	after.See(t.Context(), "s", tool("same", "new"))
	after.See(t.Context(), "s", tool("other", "bad"))
	if after.IsChanged("s", "same") || !after.IsChanged("s", "other") || after.IsChanged("s", "unchanged") {
		t.Errorf("same %s, other %s, unchanged %s", after.State("s", "same"), after.State("s", "other"), after.State("s", "unchanged"))
	}
	if got, err := ApproveSame(here, "s", told); err != nil || len(got) > 0 {
		t.Errorf("once more: %q, %v", got, err)
	}
}
