package prune

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"the empty text has none", "", nil},
		{"a final newline ends the last line", "a\nb\n", []string{"a\n", "b\n"}},
		{"a missing final newline", "a\nb", []string{"a\n", "b"}},
		{"only a newline", "\n", []string{"\n"}},
		{"a carriage return belongs to its line", "a\r\nb\r\n", []string{"a\r\n", "b\r\n"}},
		{"a lone carriage return ends nothing", "a\rb\n", []string{"a\rb\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := IndexLines(c.text)
			if l.Len() != len(c.want) {
				t.Fatalf("Len = %d, want %d", l.Len(), len(c.want))
			}
			for i, want := range c.want {
				if got := l.Line(i + 1); got != want {
					t.Errorf("Line(%d) = %q, want %q", i+1, got, want)
				}
			}
			if got := l.Range(1, l.Len()); got != c.text {
				t.Errorf("Range(1, last) = %q, want %q", got, c.text)
			}
			if got := l.Range(-3, 1000); got != c.text {
				t.Errorf("Range beyond both ends = %q, want %q", got, c.text)
			}
		})
	}
}

func TestRecover(t *testing.T) {
	const text = "one\r\ntwo\nthree"
	for _, c := range []struct {
		name     string
		spans    []Span
		numbered bool
		want     string
	}{
		{"the whole text is the text", []Span{{1, 3}}, false, text},
		{"a range keeps its line endings", []Span{{1, 2}}, false, "one\r\ntwo\n"},
		{"ranges come in the order asked, a newline between", []Span{{3, 3}, {1, 1}}, false, "three\none\r\n"},
		{"numbers are the original's", []Span{{2, 3}}, true, "2│ two\n3│ three"},
		{"what is past the end is left out", []Span{{3, 9}}, true, "3│ three"},
		{"nothing asked, nothing given", nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := IndexLines(text).Recover(c.spans, c.numbered); got != c.want {
				t.Errorf("Recover = %q, want %q", got, c.want)
			}
		})
	}
}

func TestRenderedTextAndCutsMakeUpTheOriginal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		req := anyRequest().Draw(rt, "request")
		res := Plan(req)
		lines := IndexLines(req.Text)
		annotate, markers := rapid.Bool().Draw(rt, "annotate"), rapid.Bool().Draw(rt, "markers")
		got, notes := Render(req.Text, res, "prn_ID", annotate, markers)
		var want strings.Builder
		block := 0
		for i := 1; i <= lines.Len(); i++ {
			if block < len(notes) && notes[block].StartLine == i {
				n := notes[block]
				b := res.Blocks[block]
				if n.EndLine != b.End || n.Count != b.Count() || n.Reason != b.Reason || n.Kind != "pruned_block" || n.Marker != Marker("prn_ID", b) {
					rt.Fatalf("annotation %+v of block %+v", n, b)
				}
				if strings.ContainsAny(n.Marker, "\r\n") {
					rt.Fatalf("marker %q has more than one line", n.Marker)
				}
				if markers {
					want.WriteString(n.Marker)
					if n.EndLine < lines.Len() || strings.HasSuffix(req.Text, "\n") {
						want.WriteString("\n")
					}
				}
				i = n.EndLine
				block++
				continue
			}
			if annotate {
				want.Write(appendNumbered(nil, i, ""))
			}
			want.WriteString(lines.Line(i))
		}
		if got != want.String() {
			rt.Fatalf("Render = %q, want %q", got, want.String())
		}
	})
}

func TestMarker(t *testing.T) {
	got := Marker("prn_01J", Block{Start: 120, End: 154, Reason: "hors focus: parsing YAML"})
	want := "⟦PRUNÉ: prune_id=prn_01J lignes 120-154 (35) raison=hors focus: parsing YAML⟧"
	if got != want {
		t.Errorf("Marker = %q, want %q", got, want)
	}
}

func TestRenderSizesItsBufferOnce(t *testing.T) {
	text := logText(1 << 16)
	res := Plan(Request{Text: text, Goal: "segment 12", Source: Logs, MaxPruneRatio: .7})
	_, notes := Render(text, res, "prn_X", true, true)
	got, _ := Render(text, res, "prn_X", true, true)
	if bound := renderedSize(IndexLines(text), res, notes, true, true); len(got) > bound {
		t.Errorf("rendered %d bytes, bound %d", len(got), bound)
	}
}
