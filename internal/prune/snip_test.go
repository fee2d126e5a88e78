package prune

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A huge line loses parts at its own delimiters, and every part can be recovered by its characters.
func TestHugeLinesLoseParts(t *testing.T) {
	var json, script strings.Builder
	json.WriteString(`[`)
	for i := range 400 {
		fmt.Fprintf(&json, `{"id":%d,"name":"user number %d","city":"Orléans %d"},`, i, i, i%7)
		fmt.Fprintf(&script, "function step%d(a,b){var c=a+b;if(c>%d){return c*2}return c};", i, i)
	}
	json.WriteString(`{}]`)
	for name, c := range map[string]struct{ text, goal, stays string }{
		"json":     {json.String() + "\n", "user number 217", `"name":"user number 217"`},
		"minified": {"/* licence */\n" + script.String(), "what does step217 return", "function step217("},
	} {
		req := Request{Text: c.text, Goal: c.goal, Source: Code, MaxPruneRatio: .8, Structure: Enclosing, Marker: idMarker}
		res := Plan(req)
		out, notes := Render(c.text, res, anID, false, true)
		if len(res.Snips) == 0 || len(out) > len(c.text)/2 || len(out) < len(c.text)/10 {
			t.Errorf("%s: %d bytes became %d in %d snips", name, len(c.text), len(out), len(res.Snips))
		}
		if !strings.Contains(out, c.stays) {
			t.Errorf("%s: %q is cut", name, c.stays)
		}
		checkSnips(t, c.text, out, notes)
		if plain, _ := Render(c.text, Plan(Request{Text: c.text, Goal: c.goal, MaxPruneRatio: .8}), anID, false, false); plain != c.text {
			t.Errorf("%s: without markers the line is not whole", name)
		}
	}
}

// checkSnips puts the removed parts back at their markers, and expects the original text.
func checkSnips(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text, out string, notes []Annotation,
) {
	t.Helper()
	chars := []rune(text)
	lines := IndexLines(text)
	var b strings.Builder
	for _, n := range notes {
		before, after, ok := strings.Cut(out, n.Marker)
		if !ok {
			t.Fatalf("marker %q is not in the text", n.Marker)
		}
		b.WriteString(before)
		if n.Kind == "pruned_chars" {
			b.WriteString(string(chars[n.StartChar:n.EndChar]))
		} else {
			b.WriteString(strings.TrimSuffix(lines.Range(n.StartLine, n.EndLine), "\n"))
		}
		out = after
	}
	if b.String()+out != text {
		t.Fatalf("what went does not make the text whole again")
	}
}

func TestSnipsGoBackWhereTheyWere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{`{"a":1},`, "été;", "word ", "漢字", `"quoted, text"`, "(x)", "\\", "'", "long_identifier_name = value;", "\t"}), 500, 900).Draw(rt, "parts")
		text := strings.Join(parts, "") + strings.Repeat("tail;", 800) + rapid.SampledFrom([]string{"", "\n", "\nend\n", "\r\nx"}).Draw(rt, "end")
		req := Request{Text: text, Goal: "word value", Source: Code, MaxPruneRatio: rapid.Float64Range(0, 1).Draw(rt, "ratio"), Marker: idMarker}
		res := Plan(req)
		out, notes := Render(text, res, anID, false, true)
		checkSnips(rt, text, out, notes)
		gone := 0
		for _, s := range res.Snips {
			gone += s.to - s.from
		}
		if float64(gone) > req.MaxPruneRatio*float64(len(text)) {
			rt.Fatalf("%d of %d bytes gone at ratio %v", gone, len(text), req.MaxPruneRatio)
		}
		if req.Source.Tokens(out) > req.Source.Tokens(text) {
			rt.Fatalf("longer than before")
		}
	})
}

func TestBinaryIsLeftAlone(t *testing.T) {
	text := strings.Repeat("\x00\x01\x02PNG\n\xff\xfe", 500)
	if res := Plan(Request{Text: text, Goal: "x", MaxPruneRatio: .9}); res.Pruned() != 0 || res.Unmet {
		t.Errorf("cut %d lines of bytes", res.Pruned())
	}
}
