package chat

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatAClientCutItselfStaysKnown(t *testing.T) {
	var half strings.Builder
	for i := range 150 {
		fmt.Fprintf(&half, "%03d: value_%d = compute(%d)\n", i, i, i)
	}
	for _, mark := range []string{"…3500 tokens truncated…", "[... omitted 120 of 500 lines ...]", "... [1234 characters truncated] ..."} {
		text := "Warning: truncated output (original token count: 13500)\n" + half.String() + mark + "\n" + half.String()
		body := `{"input":[{"role":"user","content":"find value_7"},{"type":"function_call","name":"exec","arguments":"{\"cmd\":\"cat x.py\"}","call_id":"1"},` +
			`{"type":"function_call_output","call_id":"1","output":` + quote(text) + `}]}`
		c, err := Responses.Read([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		jobs := c.Jobs(pruningOn(), Past{})
		if len(jobs) != 1 {
			t.Fatalf("%d jobs", len(jobs))
		}
		out, ok := c.Prune(pruningOn(), jobs[0], someID, nil)
		if !ok || !strings.Contains(out, "\n"+mark+"\n") || !strings.HasPrefix(out, "Warning: truncated output") || len(out) > len(text)*2/3 {
			t.Errorf("%s: %d of %d bytes are left, %v:\n%s", mark, len(out), len(text), ok, out)
		}
	}
}

func pruningOn() Pruning {
	p := DefaultPruning()
	p.Enabled, p.Repeats = true, false
	return p
}

func TestResultsAreComparedByWhatTheCommandWrote(t *testing.T) {
	text := strings.Repeat("name_of_it = some value\n", 300)
	out := func(id int, code string) string {
		return fmt.Sprintf(`{"type":"function_call","name":"exec","arguments":"{}","call_id":"%d"},{"type":"function_call_output","call_id":"%d","output":%s}`, id, id,
			quote(fmt.Sprintf("Chunk ID: %d\nWall time: %d.5 seconds\nProcess exited with code %s\nOutput:\n", id, id, code)+text))
	}
	read := func(items ...string) *Conversation {
		c, err := Responses.Read([]byte(`{"input":[` + strings.Join(items, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if jobs := read(out(1, "0")).Jobs(pruningOn(), Past{}); len(jobs) != 1 {
		t.Errorf("the first: %d jobs, want one", len(jobs))
	}
	if jobs := read(out(1, "0"), `{"role":"user","content":"again"}`, out(2, "0")).Jobs(pruningOn(), Past{}); len(jobs) != 0 {
		t.Errorf("the same again: %d jobs, want none", len(jobs))
	}
	if jobs := read(out(1, "2")).Jobs(pruningOn(), Past{}); len(jobs) != 0 {
		t.Errorf("one that failed: %d jobs, want none", len(jobs))
	}
}
