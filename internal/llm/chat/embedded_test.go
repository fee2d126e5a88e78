package chat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTextInJSONIsPrunedByLines: a result that wraps a text into JSON stays JSON, and only that
// text loses lines.
func TestTextInJSONIsPrunedByLines(t *testing.T) {
	s := DefaultPruning()
	s.Enabled = true
	rng := rand.New(rand.NewPCG(1, 2))
	bits := []string{`"quoted"`, `back\slash`, "été 😀", "\ttab", "\u2028", "<b>&amp;</b>", "\x00", "plain words", "}", `{"a": 1}`, "\r"}
	for try := range 60 {
		var b strings.Builder
		for i := range 150 + rng.IntN(300) {
			fmt.Fprintf(&b, "line %d: %s %s\n", i, bits[rng.IntN(len(bits))], strings.Repeat(bits[rng.IntN(len(bits))], rng.IntN(9)))
		}
		inner := b.String()
		quoted, _ := json.Marshal(inner)
		for form, doc := range []string{
			`[{"query":"cat a.txt","result":` + string(quoted) + `,"success":true}]`,
			`{"output":` + string(quoted) + `,"metadata":{"exit_code":0,"duration_seconds":0.1}}`,
		} {
			conv, at := jobs(t, s, nil, "u:q", "a:1", "t:1="+doc)
			if len(at) != 1 {
				t.Fatal("no job")
			}
			out, ok := conv.Prune(s, conv.Jobs(s, Past{})[0], someID, nil)
			if !ok {
				t.Fatalf("try %d, form %d: not pruned", try, form)
			}
			if !json.Valid([]byte(out)) {
				t.Fatalf("try %d, form %d: no JSON: %q", try, form, out)
			}
			var text string
			if form == 0 {
				var list []struct {
					Query  string `json:"query"`
					Result string `json:"result"`
				}
				if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 || list[0].Query != "cat a.txt" {
					t.Fatalf("%v in %q", err, out)
				}
				text = list[0].Result
			} else {
				var o struct {
					Output string `json:"output"`
				}
				if err := json.Unmarshal([]byte(out), &o); err != nil {
					t.Fatal(err)
				}
				text = o.Output
			}
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "⟦") && !strings.Contains(inner, line) {
					t.Fatalf("try %d: %q is no line of the text", try, line)
				}
			}
		}
	}
}
