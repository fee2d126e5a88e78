package rawjson_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"secateur/internal/rawjson"
)

// TestStringsAgreeWithTheStandardLibrary combines valid and invalid pieces. Each occurs at every
// place of a word, alone and next to others.
func TestStringsAgreeWithTheStandardLibrary(t *testing.T) {
	right := []string{
		"a", "bc", "def", "0123456", "01234567", "]", "#", "!", " ", "\x7f", "/",
		`\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\uABCD`, `\uabcd`, `\u9090`, `\uFFFF`, `\u0d0D`, `\uCFFF`, `\uE000`,
		`\ud83d\ude00`, `\uDBFF\uDFFF`, `\ud800`, `\uDBff`, `\udc00`, `\uDFFF`, "u0041",
		"é", "\u0080", "\u07ff", "日", "\u0800", "\u0fff", "\u1000", "\ucfff", "\ud000", "\ud7ff", "\ue000", "\ufffd", "’",
		"😀", "\U00010000", "\U0003ffff", "\U00040000", "\U000fffff", "\U00100000", "\U0010ffff",
	}
	wrong := []string{
		`"`, `\`, `\x`, `\u`, `\u004`, `\u004G`, `\u004g`, `\u00/0`, `\u00:0`, `\u00@0`, "\\u00`0", `\u 041`, "\\u00\xe9", "\\u004\xb1", "\\u00\x101",
		"\x00", "\n", "\x1f", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe3\x81", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xff",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60_000 {
		var b strings.Builder
		b.WriteByte('"')
		for range rnd.IntN(9) {
			pieces := right
			if rnd.IntN(20) == 0 {
				pieces = wrong
			}
			b.WriteString(strings.Repeat(pieces[rnd.IntN(len(pieces))], 1+rnd.IntN(2)))
		}
		if rnd.IntN(10) > 0 {
			b.WriteByte('"')
		}
		raw := []byte(b.String())
		err := rawjson.Check(raw, 0)
		if want := json.Valid(raw) && utf8.Valid(raw); (err == nil) != want {
			t.Fatalf("Check(%q) = %v, want valid: %t", raw, err, want)
		}
		raw = rawjson.Trim(raw) // a quote may have ended it before a space
		// Other bytes may follow the string.
		longer := slicesConcat("", raw, strings.Repeat(`",\é`, rnd.IntN(4)))
		if err == nil && rawjson.StringEnd(longer, 0) != len(raw) {
			t.Fatalf("StringEnd(%q) = %d, want %d", longer, rawjson.StringEnd(longer, 0), len(raw))
		}
		if err == nil {
			testUnquote(t, raw)
		}
	}
}

// testUnquote compares Unquote with encoding/json, which decodes every lone surrogate to U+FFFD.
func testUnquote(t *testing.T, raw []byte) {
	t.Helper()
	var want string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatalf("Unmarshal(%s): %v", raw, err)
	}
	if got := replaceSurrogates(rawjson.Unquote(raw)); got != want {
		t.Fatalf("Unquote(%s) = %q, want %q", raw, got, want)
	}
	if got, want := rawjson.CountChars(raw), utf8.RuneCountInString(want); got != want {
		t.Fatalf("CountChars(%s) = %d, want %d", raw, got, want)
	}
	testBoundaries(t, raw)
}

func replaceSurrogates(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			n = 3
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// testBoundaries checks that the head and tail of every length, decoded separately, make up the
// text.
func testBoundaries(t *testing.T, raw []byte) {
	t.Helper()
	text := rawjson.Unquote(raw)
	chars := rawjson.CountChars(raw)
	for n := range chars + 1 {
		end, start := rawjson.HeadEnd(raw, n), rawjson.TailStart(raw, chars-n)
		if end != start {
			t.Fatalf("%s: head of %d ends at %d, tail of %d starts at %d", raw, n, end, chars-n, start)
		}
		head, tail := slicesConcat("", raw[:end], `"`), slicesConcat(`"`, raw[start:], "")
		if rawjson.Check(head, 0) != nil || rawjson.Check(tail, 0) != nil {
			t.Fatalf("%s cut in %s and %s", raw, head, tail)
		}
		if got := rawjson.CountChars(head); got != n {
			t.Fatalf("%s has %d characters, want %d", head, got, n)
		}
		if got := rawjson.Unquote(head) + rawjson.Unquote(tail); got != text {
			t.Fatalf("%s and %s say %q, want %q", head, tail, got, text)
		}
	}
}
