package chat

import (
	"strings"
	"testing"

	"secateur/internal/prune"
)

func TestTheRecoverToolIsFoundUnderTheClientsName(t *testing.T) {
	deferred := `"messages":[{"role":"user","content":"<system-reminder>tools:\nmcp__x__read\nmcp__secateur__pruner-recover_text\n</system-reminder>"},{"role":"assistant","content":"ok"}]`
	for name, c := range map[string]struct {
		format Format
		body   string
		want   string
	}{
		"Messages":           {Messages, `{"tools":[{"name":"Read"},{"name":"mcp__secateur__pruner-recover_text"}],"messages":[{"role":"user","content":"x"}]}`, "mcp__secateur__pruner-recover_text"},
		"chat completions":   {Completions, `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name": "pruner-recover_text"}}]}`, "pruner-recover_text"},
		"Responses":          {Responses, `{"input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"secateur__pruner__recover_text"}]}`, "secateur__pruner__recover_text"},
		"listed in a text":   {Messages, "{" + deferred + "}", "mcp__secateur__pruner-recover_text"},
		"in a description":   {Messages, `{"tools":[{"name":"Read","description":"not \"recover_text\", recover_text"}],"messages":[{"role":"user","content":"x"}]}`, ""},
		"another tool":       {Messages, `{"tools":[{"name":"recover_text_of"}],"messages":[{"role":"user","content":"recover_text"}]}`, ""},
		"words of a user":    {Completions, `{"messages":[{"role":"user","content":"mcp__secateur__pruner-recover_text"}]}`, ""},
		"no message, either": {Messages, `{"messages":[]}`, ""},
	} {
		conv, err := c.format.Read([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got := conv.RecoveryBy("secateur recover"); got.Tool != c.want || got.Shell != "secateur recover" {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

func TestTheFirstMarkerTellsHowToGetMore(t *testing.T) {
	lines, chars := prune.Mark{Unit: prune.InLines, Start: 127, End: 141}, prune.Mark{Unit: prune.InChars, Start: 400, End: 900}
	tool, shell := Recovery{Tool: "mcp__s__pruner-recover_text", Shell: "secateur recover"}, Recovery{Shell: "secateur recover --config /c.toml"}
	for name, c := range map[string]struct {
		by   Recovery
		mark prune.Mark
		want string
	}{
		"a tool":           {tool, lines, "⟦PRUNED lines 127-141 id=prn_X. These lines were left out to save context; to read any of them, call mcp__s__pruner-recover_text with prune_id and ranges.⟧"},
		"a shell":          {shell, lines, "⟦PRUNED lines 127-141 id=prn_X. These lines were left out to save context; to read any of them, run `secateur recover --config /c.toml prn_X 127-141` in a shell.⟧"},
		"characters":       {shell, chars, "⟦PRUNED chars 400-900 id=prn_X. Left out to save context; to read it, run `secateur recover --config /c.toml prn_X --chars 400-900` in a shell.⟧"},
		"neither":          {Recovery{}, lines, "⟦PRUNED lines 127-141 id=prn_X⟧"},
		"chars and a tool": {tool, chars, "⟦PRUNED chars 400-900 id=prn_X. Left out to save context; to read it, call mcp__s__pruner-recover_chars with prune_id, start and end.⟧"},
	} {
		if got := (rendering{id: "prn_X", by: c.by}).told(c.mark, true); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := (rendering{id: "prn_X", by: c.by}).told(c.mark, false); strings.ContainsAny(got, ".=") {
			t.Errorf("%s: a later marker is %s", name, got)
		}
	}
	if shell.Engine(DefaultPruning()) == tool.Engine(DefaultPruning()) {
		t.Error("what is told differently comes out of one engine")
	}
}

// A marker has the line numbers that the client's tool shows, and they lead to the removed lines.
func TestMarkersHaveTheNumbersOfTheView(t *testing.T) {
	for name, text := range map[string]string{
		"an offset":         shownFile(101, 300),
		"opencode's header": "<path>/a/b.py</path>\n<type>file</type>\n<content>\n" + strings.ReplaceAll(strings.ReplaceAll(shownFile(1, 300), "→", ": "), "  ", "") + "</content>",
	} {
		out := pruneOne(t, text)
		lines := prune.IndexLines(text)
		view := prune.ViewOf(lines)
		blocks := prune.ReadMarkers(out, someID)
		if len(blocks) == 0 || view.Last() == 0 {
			t.Fatalf("%s: no marker in %s", name, out)
		}
		for _, b := range blocks {
			at := view.Place(prune.Span{Start: b.Start, End: b.End})
			for line := range strings.Lines(lines.Range(at.Start, at.End)) {
				if line[0] != '<' && strings.Contains(out, line) {
					t.Errorf("%s: %d-%d stands for lines %v, but %q is still there", name, b.Start, b.End, at, line)
				}
			}
		}
	}
}
