package rawjson

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// judgement is what scanString says about a string.
type judgement struct {
	end, extra int
	fault      Fault
}

func needAVX2(t *testing.T) {
	t.Helper()
	if !canSkim {
		if os.Getenv("CI") != "" {
			t.Fatal("the processor has no AVX2: what uses it was not tried")
		}
		t.Skip("the processor has no AVX2: there is nothing to compare")
	}
}

// sameUnskimmed scans a document's first string with and without skimming.
func sameUnskimmed(t *testing.T, doc []byte) {
	t.Helper()
	needAVX2(t)
	var got, want judgement
	got.end, got.extra, got.fault = scanString(doc, 1)
	canSkim = false
	defer func() { canSkim = true }()
	want.end, want.extra, want.fault = scanString(doc, 1)
	if got != want {
		t.Fatalf("scanString(%q) = %+v, without skimming %+v", doc, got, want)
	}
}

// atAllPlaces puts text at all places of a block in a string that is skimmed.
func atAllPlaces(t *testing.T, text string) {
	t.Helper()
	for before := 40; before < 40+blockLength; before++ {
		doc := `"` + strings.Repeat("a", before) + text + strings.Repeat("b", 70) + `" : "` + strings.Repeat("c", 200)
		sameUnskimmed(t, []byte(doc))
		sameUnskimmed(t, []byte(doc[:1+before+len(text)])) // the document ends here
	}
}

func TestSkimmingFindsTheSame(t *testing.T) {
	for rule, text := range map[string]string{
		"plain":                        "x",
		"the end":                      `"`,
		"a quote that is escaped":      `\"`,
		"the end behind a backslash":   `\\"`,
		"the end behind four":          `\\\\"`,
		"an escaped one behind four":   `\\\\\"`,
		"a long row of backslashes":    strings.Repeat(`\`, 150) + `"`,
		"and one more":                 strings.Repeat(`\`, 151) + `"`,
		"rows apart":                   `\\\n\\\\\t\\x\\"`,
		"all simple escapes":           `\"\\\/\b\f\n\r\t`,
		"units":                        `\u00e9\u4e2d\ud83d\ude00\ud800x`,
		"an unknown escape":            `\x`,
		"a unit that is too short":     `\u12x4`,
		"an escape of a character":     `\é`,
		"a backslash before a control": "\\\n",
		"a control character":          "\x00",
		"the last control character":   "\x1f",
		"delete is none":               "\x7f",
		"two bytes":                    "é",
		"three bytes":                  "€中\uffff",
		"four bytes":                   "😀\U0010ffff",
		"many":                         strings.Repeat("é€😀", 30),
		"the end behind a character":   "é\"",
		"the end in a character":       "\xc3\"",
		"the end in a longer one":      "\xe2\x82\"",
		"the end in the longest":       "\xf0\x9f\x98\"",
		"a backslash in a character":   "\xe2\\n",
		"a stray continuation byte":    "\x80",
		"one too many":                 "é\xa9",
		"a surrogate":                  "\xed\xa0\x80",
		"an overlong form":             "\xc0\xaf\xe0\x80\xaf",
		"past the last character":      "\xf4\x90\x80\x80",
		"no lead byte":                 "\xff",
	} {
		t.Run(rule, func(t *testing.T) { atAllPlaces(t, text) })
	}
}

func TestSkimmingJudgesUTF8AsUnskimmed(t *testing.T) {
	doc := []byte(`"` + strings.Repeat("a", 200) + `"`)
	at := 1 + tryWords + wordLength + blockLength // where a block starts
	for first := 0x80; first < 0x100; first++ {
		for second := range 0x100 {
			for _, rest := range []string{"", "\x80", "\x80\x80", "\xbf\xbf", "\x80\x80\x80"} {
				for _, shift := range []int{-1, 7} {
					d := bytes.Clone(doc)
					copy(d[at+shift:], append([]byte{byte(first), byte(second)}, rest...))
					sameUnskimmed(t, d)
				}
			}
		}
	}
}

func TestSkimmingJudgesAnythingAsUnskimmed(t *testing.T) {
	pieces := []string{
		"a", "some plain words ", `\n`, `\"`, `\\`, `\`, `"`, "é", "€", "😀", `\u00e9`, `\ud83d\ude00`, `\u12`, "\x01", "\x80", "\xe2\x82", "\xf0\x9f",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var doc strings.Builder
		doc.WriteByte('"')
		kinds := 1 + rnd.IntN(len(pieces)) // few of them, so that faults do not come at once
		for doc.Len() < 450 {
			doc.WriteString(pieces[min(rnd.IntN(kinds), rnd.IntN(kinds), rnd.IntN(len(pieces)))])
		}
		sameUnskimmed(t, []byte(doc.String()[:rnd.IntN(doc.Len()-1)+1]))
	}
}

func FuzzSkimming(f *testing.F) {
	f.Add([]byte(strings.Repeat("é\\n😀 ", 60)), 100)
	f.Fuzz(func(t *testing.T, text []byte, before int) {
		before = min(max(before, 0), 300)
		sameUnskimmed(t, append([]byte(`"`+strings.Repeat(" ", before)), text...))
	})
}

func TestSkimmingGoesOnAfterAPause(t *testing.T) {
	for before := range 4 {
		sameUnskimmed(t, []byte(`"`+strings.Repeat("x", before)+strings.Repeat("é\\n€ ", maxSkim/4)+`"`))
	}
}
