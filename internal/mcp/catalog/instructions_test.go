package catalog_test

import (
	"strings"
	"testing"

	"secateur/internal/mcp/catalog"
)

func TestInstructions(t *testing.T) {
	servers := []catalog.ServerInstructions{
		{Server: "files", Text: "  Read before you write.\n"},
		{Server: "silent", Text: " \n"},
		{Server: "web", Text: "Fetch\n\nonce."},
	}
	const said = "# files\n\nRead before you write.\n\n# web\n\nFetch\n\nonce."
	if got := catalog.Instructions(servers, "", ""); got != said {
		t.Errorf("Instructions = %q, want %q", got, said)
	}
	got := catalog.Instructions(servers, "pruner-recover_text", "")
	first, rest, ok := strings.Cut(got, "\n\n")
	if !ok || rest != said {
		t.Errorf("Instructions = %q, want a paragraph and then %q", got, said)
	}
	for _, word := range []string{"⟦PRUNED lines ", "id=prn_", " pruner-recover_text ", `"prune_id"`} {
		if !strings.Contains(first, word) {
			t.Errorf("%q does not tell of %s", first, word)
		}
	}
	if got := catalog.Instructions(nil, "x", ""); got == "" || strings.HasSuffix(got, "\n") {
		t.Errorf("Instructions without servers = %q", got)
	}
	if got := catalog.Instructions(nil, "", ""); got != "" {
		t.Errorf("Instructions of nothing = %q", got)
	}
}
