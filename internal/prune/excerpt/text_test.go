package excerpt

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"secateur/internal/llm/bpe"
	"secateur/internal/prune"
)

// snapshot is a page as a browser's server shows it.
func snapshot() string {
	var b strings.Builder
	b.WriteString("### Page\n- Page Title: Form\n```yaml\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  - generic [ref=e%d]:\n    - generic [ref=e%d]:\n", 3*i, 3*i+1)
		if i%10 == 0 {
			fmt.Fprintf(&b, "      - checkbox \"Option %d\" [ref=e%d] [cursor=pointer]\n", i, 3*i+2)
		}
	}
	return b.String()
}

func TestElementsThatCanBeActedOnStay(t *testing.T) {
	text := snapshot()
	out, ok := Cut(Request{Text: text, Target: len(text) / 3, ID: "prn_X"})
	if !ok {
		t.Fatal("nothing was cut")
	}
	if n := strings.Count(out, "checkbox"); n != 20 {
		t.Errorf("%d of 20 checkboxes are left", n)
	}
}

func TestTheFocusDecides(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "Paragraph %d tells of matters that have number %d and nothing else.\n", i, i*i)
	}
	b.WriteString("The cancellation period is fourteen days.\n")
	for i := range 300 {
		fmt.Fprintf(&b, "Paragraph %d goes on about matters of number %d.\n", 300+i, i*i+7)
	}
	for _, g := range []Goal{{Focus: "cancellation period"}, {Call: "cancellation period"}} {
		out, ok := Cut(Request{Text: b.String(), Goal: g, Target: 3000, ID: "prn_X"})
		if !ok || !strings.Contains(out, "fourteen days") {
			t.Errorf("for %+v the line is gone", g)
		}
	}
}

func TestMarkersTellTheIDOnceAndANoteOnce(t *testing.T) {
	out, ok := Cut(Request{Text: snapshot(), Target: 4000, ID: "prn_X", Note: func(prune.Mark) string { return "Ask for it." }})
	if !ok {
		t.Fatal("nothing was cut")
	}
	if strings.Count(out, "id=prn_X") != 1 || strings.Count(out, "Ask for it.") != 1 || strings.Count(out, "⟦PRUNED ") < 2 {
		t.Errorf("markers of %s", out)
	}
	if first := strings.Index(out, "⟦PRUNED "); !strings.Contains(out[first:first+80], "id=prn_X") {
		t.Error("the first marker does not tell the id")
	}
}

func TestNoCutCostsMoreTokensThanItSaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 80).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom([]string{"", "}", "same line again", "- generic [ref=e1]:", "名前は漢字です"}).Draw(t, "line"))
			b.WriteString(rapid.StringN(0, 40, -1).Draw(t, "more"))
			b.WriteString("\n")
		}
		text := b.String()
		out, ok := Cut(Request{Text: text, Target: rapid.IntRange(1, 1+len(text)).Draw(t, "target"), ID: "prn_00000000000000000000000000"})
		if !ok {
			return
		}
		if before, after := bpe.Count(text), bpe.Count(out); after > before {
			t.Fatalf("%d tokens became %d: %q of %q", before, after, out, text)
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Fatalf("%q is not valid", out)
		}
	})
}

func TestShortAndMarkedTextsPassWhole(t *testing.T) {
	for rule, text := range map[string]string{
		"too little to cut": "one\ntwo\n",
		"cut before":        strings.Repeat("line\n", 1000) + "⟦PRUNED lines 3-4⟧\n",
		"binary":            strings.Repeat("\x00\x01\x02", 5000),
	} {
		if out, ok := Cut(Request{Text: text, Target: 100, ID: "prn_X"}); ok {
			t.Errorf("%s: %q", rule, out)
		}
	}
}

func TestAHugeTextKeepsItsEnds(t *testing.T) {
	text := "[" + strings.Repeat("\"é\",", maxRead/4) + "0]"
	out, ok := Cut(Request{Text: text, Target: 10001, ID: "prn_X"})
	if !ok || len(out) > 10100 || !strings.HasPrefix(out, `["é"`) || !strings.HasSuffix(out, ",0]") || !utf8.ValidString(out) {
		t.Fatalf("%d bytes are left: %.60s", len(out), out)
	}
	head, rest, _ := strings.Cut(out, "⟦PRUNED chars ")
	first, rest, _ := strings.Cut(rest, "-")
	last, tail, found := strings.Cut(rest, " id=prn_X⟧")
	from, _ := strconv.Atoi(first)
	to, _ := strconv.Atoi(last)
	if !found || from != utf8.RuneCountInString(head) || to != utf8.RuneCountInString(text)-utf8.RuneCountInString(tail) {
		t.Errorf("the marker says %s-%s, between %d and %d characters", first, last, utf8.RuneCountInString(head), utf8.RuneCountInString(tail))
	}
}

func TestWhatTakesTooLongPassesWhole(t *testing.T) {
	if _, ok := Cut(Request{Text: records(500), Target: 1000, ID: "prn_X", Expired: func() bool { return true }}); ok {
		t.Error("it was cut")
	}
}

func BenchmarkCutText(b *testing.B) {
	text := strings.Repeat(snapshot(), 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := Cut(Request{Text: text, Target: 60000, ID: "prn_X", Goal: Goal{Call: "Option 40"}}); !ok {
			b.Fatal("nothing was cut")
		}
	}
}
