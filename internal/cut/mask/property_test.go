package mask_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/cut/mask"
	"secateur/internal/rawjson"
)

var markers = []string{
	mask.Default().Marker, "#", "<{orig}>", "{orig}", "{orig}{head}{tail}", "\\", "\"{id}\"", "{id}x", "é{tail}\U0001f600", "[id={id}]",
}

// A failer is a testing.T or a rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check compares a Masker with the reference.
func check(t failer, doc string, s mask.Settings) {
	t.Helper()
	m, err := mask.New(s)
	if err != nil {
		return
	}
	long, err := rawjson.LongStrings([]byte(doc), 1000, m.LongString())
	if err != nil {
		return
	}
	cuts := m.Cuts([]byte(doc), long)
	for i := range cuts {
		cuts[i].ID = "prn_0"
	}
	got := string(m.Append(nil, []byte(doc), cuts))
	want, n := referenceMask(doc, s, "prn_0")
	if got != want || n != len(cuts) {
		t.Fatalf("%+v: masked %q\n got %q, %d cuts\nwant %q, %d cuts", s, doc, got, len(cuts), want, n)
	}
	if len(cuts) == 0 && got != doc {
		t.Fatalf("%q changed without a cut to %q", doc, got)
	}
	if !json.Valid([]byte(got)) {
		t.Fatalf("%q masked is no JSON: %q", doc, got)
	}
	// A decoder reads the same strings, except for the cut ones.
	before, after := (&reference{doc: doc}).value(), (&reference{doc: got}).value()
	if problem := compare(before, after, s); problem != "" {
		t.Fatalf("%+v: %q masked to %q: %s", s, doc, got, problem)
	}
}

// compare checks that two trees are equal, except that strings of the first may be cut in the
// second.
func compare(a, b *node, s mask.Settings) string {
	if a.kind != b.kind || len(a.values) != len(b.values) {
		return "another structure"
	}
	for i := range a.values {
		if a.kind == '{' && a.names[i].text() != b.names[i].text() {
			return fmt.Sprintf("name %q became %q", a.names[i].text(), b.names[i].text())
		}
		if problem := compare(a.values[i], b.values[i], s); problem != "" {
			return problem
		}
	}
	if a.kind != '"' {
		return ""
	}
	runes := func(chars []char) (out []rune) {
		for _, c := range chars {
			out = append(out, c.r)
		}
		return out
	}
	whole, got := runes(a.chars), runes(b.chars)
	if fmt.Sprint(whole) == fmt.Sprint(got) {
		return ""
	}
	masked := append([]rune(nil), whole[:s.HeadChars]...)
	masked = append(masked, []rune(fill(s, len(whole), "prn_0"))...)
	masked = append(masked, whole[len(whole)-s.TailChars:]...)
	if fmt.Sprint(masked) != fmt.Sprint(got) {
		return fmt.Sprintf("%q became %q", a.text(), b.text())
	}
	return ""
}

func FuzzMaskAgainstReference(f *testing.F) {
	for _, doc := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"abcdefghijklmnop"}]}}`,
		`["\ud83d\ude00\ud800\udc00\ud800\ude00xyz\\\\\\\"",{"a":"éééééééé","a":"日本語日本語日本語"}]`,
		`{"type":"image","data":"abcdefghijkl","blob":"abcdefghijkl","x":{"data":"abcdefghijkl"}}`,
		`"ab<12>cdefg<7>567"`,
	} {
		f.Add(doc, uint8(6), uint8(2), uint8(3), uint8(2), true)
	}
	f.Fuzz(func(t *testing.T, doc string, limit, head, tail, marker uint8, media bool) {
		check(t, doc, mask.Settings{
			MaxChars: int(limit), HeadChars: int(head), TailChars: int(tail),
			Marker: markers[int(marker)%len(markers)], ExemptMedia: media,
		})
	})
}

// TestMaskAgainstReference combines relevant pieces to documents, which random bytes rarely form.
func TestMaskAgainstReference(t *testing.T) {
	pieces := []string{
		"a", "b", "7", "<", ">", "é", "日", "😀", `\n`, `\\`, `\"`, `\/`, `\u0041`, `\u00E9`, `\ud83d\ude00`, `\uD83D\uDE00`,
		`\ud800`, `\uDBFF`, `\udc00`, `\uDFFF`, "u0041", "#", "<12>", "prn_0", "plain text of some length",
	}
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "})
	text := rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "text"), "") + `"`
	})
	name := rapid.OneOf(rapid.SampledFrom([]string{`"data"`, `"blob"`, `"type"`, `"mimeType"`, `"d\u0061ta"`, `"data\\"`, `"\"data"`, `""`}), text)
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 5).Draw(t, "kind")
			if depth == 0 {
				kind %= 3
			}
			sp := func() string { return space.Draw(t, "space") }
			var parts []string
			switch kind {
			case 0:
				return rapid.SampledFrom([]string{"0", "-1.50e+3", "12345678901234567890", "true", "false", "null", `"image"`, `"audio"`}).Draw(t, "scalar")
			case 1, 2:
				return text.Draw(t, "string")
			case 3:
				for range rapid.IntRange(0, 4).Draw(t, "elements") {
					parts = append(parts, sp()+value(depth-1).Draw(t, "element")+sp())
				}
				return "[" + strings.Join(parts, ",") + "]"
			}
			for range rapid.IntRange(0, 5).Draw(t, "members") {
				parts = append(parts, sp()+name.Draw(t, "name")+sp()+":"+sp()+value(depth-1).Draw(t, "member")+sp())
			}
			return "{" + strings.Join(parts, ",") + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "max_chars")
		head := rapid.IntRange(0, limit).Draw(t, "head_chars")
		check(t, value(4).Draw(t, "document"), mask.Settings{
			MaxChars: limit, HeadChars: head, TailChars: rapid.IntRange(0, limit-head).Draw(t, "tail_chars"),
			Marker: rapid.SampledFrom(markers).Draw(t, "marker"), ExemptMedia: rapid.Bool().Draw(t, "exempt_media"),
		})
	})
}
