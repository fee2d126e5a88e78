package rawjson

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// sameUnquoted decodes a text, well-formed or not, with and without unescape.
func sameUnquoted(t *testing.T, text string) {
	t.Helper()
	needAVX2(t)
	raw := []byte(`"` + text + `"`)
	got := Unquote(raw)
	canSkim = false
	defer func() { canSkim = true }()
	if want := Unquote(raw); got != want {
		t.Fatalf("Unquote(%q) = %q, without unescape %q", raw, got, want)
	}
}

func TestUnescapingSaysTheSame(t *testing.T) {
	for rule, text := range map[string]string{
		"simple escapes":                `\"\\\/\b\f\n\r\t`,
		"one":                           `\n`,
		"a row of backslashes":          strings.Repeat(`\\`, 70),
		"an odd row before a letter":    strings.Repeat(`\\`, 35) + `\n`,
		"an escaped one before a quote": `\\\"`,
		"units":                         `\u00e9\u4e2d\ud83d\ude00\ud800x`,
		"an escaped one before a u":     `\\u00e9`,
		"an unknown escape":             `\x`,
		"characters":                    "é€😀",
		"a bracket, its neighbour":      `\\]]\n]`,
	} {
		t.Run(rule, func(t *testing.T) {
			for before := range 2 * 32 { // at all places of a window
				sameUnquoted(t, strings.Repeat("a", worthUnescaping+before)+text+strings.Repeat("b", 150))
				sameUnquoted(t, strings.Repeat("a", worthUnescaping+before)+text)
				sameUnquoted(t, strings.Repeat("a", decodedBlock-2*unescapeAhead+before)+text+strings.Repeat("b", 150))
			}
		})
	}
}

func TestUnescapingSaysTheSameOfAnything(t *testing.T) {
	pieces := []string{
		"a", "some plain words ", `\n`, `\"`, `\\`, `\`, "é", "€", "😀", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\u12`, "]", "\xff", strings.Repeat("x", 40),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		var text strings.Builder
		kinds := 1 + rnd.IntN(len(pieces))
		for size := rnd.IntN(2 * decodedBlock); text.Len() < size; {
			text.WriteString(pieces[min(rnd.IntN(kinds), rnd.IntN(kinds))])
		}
		sameUnquoted(t, text.String())
	}
}

func FuzzUnescaping(f *testing.F) {
	f.Add(strings.Repeat(`a line\n`, 100), 100)
	f.Add(`\\\"\u00e9`, 5)
	f.Fuzz(func(t *testing.T, text string, before int) {
		before = min(max(before, 0), decodedBlock)
		sameUnquoted(t, strings.Repeat(" ", before)+text+strings.Repeat(".", unescapeAhead))
	})
}

// unescape keeps to the room that it is given, of any size.
func TestUnescapingKeepsToItsRoom(t *testing.T) {
	needAVX2(t)
	text := []byte(strings.Repeat(`1234567890123456789012345678901\n\\`, 20))
	for size := range 400 {
		room := bytes.Repeat([]byte{'.'}, size+100)
		wrote, read := unescape(room[:size], text)
		if wrote > size || read > len(text) || !bytes.Equal(room[size:], bytes.Repeat([]byte{'.'}, 100)) {
			t.Fatalf("into %d bytes: wrote %d, read %d, and behind them %q", size, wrote, read, room[size:])
		}
	}
}
