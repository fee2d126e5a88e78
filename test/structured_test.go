package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Text that is cut does not come back in structured content, and the rest still matches the tool's
// schema.
func TestStructuredRepeats(t *testing.T) {
	npmFile(t, "@langchain", "mcp-adapters", "package.json")
	config, dir := filesAndMemory(t)
	const size = 350_000
	file := filepath.Join(dir, "big.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("thirty-four characters and a line\n", size/34+1)[:size]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		setting                 string
		structured, least, most int
	}{
		{"repeats", 20_000, 20_000, 50_000},
		{"none", size, size, 2 * size},
	} {
		t.Run(c.setting, func(t *testing.T) {
			p := start(t, "observation_masking.mcp.mode = \"head_tail\"\nobservation_masking.mcp.structured = \""+c.setting+"\"\nstore.url = \"memory:\"\n"+config)
			cmd := exec.CommandContext(t.Context(), newNode(t), "structured-client.mjs", p.url+"/mcp", file)
			cmd.Dir = "npm"
			cmd.Stderr = t.Output()
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got struct {
				Declared     bool `json:"declared"`
				Text         int  `json:"text"`
				Structured   int  `json:"structured"`
				SameOriginal bool `json:"sameOriginal"`
				Shown        int  `json:"shown"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			cut := c.setting == "repeats"
			if !got.Declared || got.Text > 20_200 || got.Structured < c.structured || cut && got.Structured > c.structured+200 || got.SameOriginal != cut {
				t.Errorf("the SDK's client saw %+v", got)
			}
			if got.Shown < c.least || got.Shown > c.most {
				t.Errorf("LangChain has %d characters, want %d to %d", got.Shown, c.least, c.most)
			}
		})
	}
}
