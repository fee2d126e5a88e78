package prune

import (
	"strings"
	"testing"
)

func TestCandidatesComeBestFirstWithTheirHeaders(t *testing.T) {
	var b strings.Builder
	b.WriteString("package demo\n\n")
	for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"} {
		b.WriteString("type " + name + " struct {\n\tfirst  int\n\tsecond int\n}\n\nfunc (x *" + name + ") run() {\n")
		for range 10 {
			b.WriteString("\tx.first += x.second\n\tx.second--\n")
		}
		if name == "delta" {
			b.WriteString("\tx.reconnect(timeout)\n")
		}
		b.WriteString("}\n\n")
	}
	text := b.String()
	got := Candidates(Request{Text: text, Goal: "reconnect after a timeout"}, 3)
	if len(got) != 3 {
		t.Fatalf("got %d candidates, want 3", len(got))
	}
	if !strings.Contains(got[0].Text, "reconnect") || !strings.Contains(got[0].Text, "func (x *delta) run()") {
		t.Errorf("the best candidate is %q", got[0].Text)
	}
	lines := IndexLines(text)
	for i, c := range got {
		if !strings.HasSuffix(c.Text, lines.Range(c.Start, c.End)) {
			t.Errorf("candidate %d does not end with its lines %d-%d: %q", i, c.Start, c.End, c.Text)
		}
		if i > 0 && c.Score > got[i-1].Score {
			t.Errorf("candidate %d is better than the one before", i)
		}
	}
}

func TestCandidatesCoverTheTextOnce(t *testing.T) {
	for source, text := range map[Source]string{Code: programText(t, 1<<15), Logs: logText(1 << 15), Docs: docText(1 << 15)} {
		seen := make([]bool, IndexLines(text).Len()+1)
		for _, c := range Candidates(Request{Text: text, Goal: "store", Source: source}, 1<<20) {
			for i := c.Start; i <= c.End; i++ {
				if seen[i] {
					t.Fatalf("%v: line %d is in two candidates", source, i)
				}
				seen[i] = true
			}
		}
		for i, line := range strings.SplitAfter(text, "\n") {
			if strings.TrimSpace(line) != "" && !seen[i+1] {
				t.Errorf("%v: line %d is in no candidate", source, i+1)
			}
		}
	}
}

func TestNoCandidates(t *testing.T) {
	for name, got := range map[string][]Candidate{
		"of the empty text": Candidates(Request{}, 5),
		"of blank lines":    Candidates(Request{Text: "\n \n"}, 5),
		"none asked for":    Candidates(Request{Text: "a\n"}, 0),
		"out of time":       Candidates(Request{Text: "a\n", Expired: func() bool { return true }}, 5),
	} {
		if got != nil {
			t.Errorf("candidates %s: %v", name, got)
		}
	}
}
