package tokens

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// expected computes the measure from the weights and a profile, state by state.
func expected(text string, kind Kind) (m Measure, tokens float64) {
	m.Bytes = len(text)
	for s, n := range Profile(text) {
		tokens += float64(weights[kind][s]) * float64(n)
		switch {
		case s >= digit1 && s <= digit3:
			m.Digits += int(n)
		case s >= sign1 && s <= sameLast, s >= tab1 && s <= line2, s == control:
			m.Signs += int(n)
		case s >= latin && s <= rest:
			m.Others += int(n)
		}
	}
	return m, tokens
}

// isNear reports whether a measure is the expected one. It may be slightly off where two parts of a
// text meet.
func isNear(got, want Measure, tokens float64, text string) bool {
	off := 0.51
	if len(text) >= short {
		off += 0.5 + 0.002*tokens
	}
	near := math.Abs(float64(got.Tokens)-max(1, tokens)) <= off
	got.Tokens = want.Tokens
	return near && got == want
}

// texts are a program and its prose, in pieces of many lengths, and meaningless strings.
func texts(t *testing.T) (all []string) {
	t.Helper()
	source, err := os.ReadFile("estimate_test.go")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < len(source); n += 1 + n/7 {
		at := random.IntN(len(source) - n)
		all = append(all, strings.ToValidUTF8(string(source[at:at+n]), "?"))
	}
	alphabet := []rune("aZ9 \t\n\r\"\\/-=#._été服Сд\x01\x7f😀nrtbfu0")
	for range 500 {
		var b strings.Builder
		for range random.IntN(600) {
			b.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		all = append(all, b.String())
	}
	return all
}

func TestSizeIsWhatTheProfileSays(t *testing.T) {
	for _, text := range texts(t) {
		for kind := range kinds {
			if text == "" {
				continue
			}
			want, tokens := expected(text, kind)
			if got := Size(text, kind); !isNear(got, want, tokens, text) {
				t.Fatalf("Size(%q, %d) = %+v, want %+v and %.2f tokens", text, kind, got, want, tokens)
			}
		}
	}
}

func TestSizeQuotedIsThatOfWhatItSays(t *testing.T) {
	for _, text := range texts(t) {
		raw := quoted(t, text)
		if strings.Contains(strings.ReplaceAll(raw, `\\`, ""), `\u`) {
			continue
		}
		want, tokens := expected(`"`+text+`"`, Code)
		if got := SizeQuoted(raw, Code); !isNear(got, want, tokens, raw) {
			t.Fatalf("SizeQuoted(%s) = %+v, want %+v and %.2f tokens", raw, got, want, tokens)
		}
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// In a run longer than the runway, the first group of digits or pair of backslashes of a part is
// unknown.
func TestSizeOfALongRunIsOffByLittle(t *testing.T) {
	for _, c := range "a90 \t\n-\\é服" {
		text := strings.Repeat(string(c), 501)
		want, tokens := expected(text, Code)
		got := Size(text, Code)
		if math.Abs(float64(got.Tokens)-tokens) > lanes || got.Bytes != want.Bytes || got.Signs != want.Signs {
			t.Errorf("Size(%q) = %+v, want %+v and %.2f tokens", text, got, want, tokens)
		}
		want, tokens = expected(`"`+text+`"`, Code)
		got = SizeQuoted(quoted(t, text), Code)
		if math.Abs(float64(got.Tokens)-tokens) > lanes || math.Abs(float64(got.Bytes-want.Bytes)) > lanes {
			t.Errorf("SizeQuoted(%q) = %+v, want %+v and %.2f tokens", text, got, want, tokens)
		}
	}
}

func TestSizeQuotedTakesANumberForOneByte(t *testing.T) {
	want := Size("\"x\xc3\xc3y\\\t/\"", Prose)
	if got := SizeQuoted(`"x\u00e9\uD83Dy\\\t\/"`, Prose); got != want {
		t.Errorf("SizeQuoted = %+v, want %+v", got, want)
	}
	for _, cut := range []string{`\`, `\u`, `\u00`, `"\u123`} { // pieces of a string
		if got := SizeQuoted(cut, Prose); got.Bytes < 0 || got.Bytes > 2 {
			t.Errorf("SizeQuoted(%s) = %+v", cut, got)
		}
	}
}

func TestStepsAddedUpDoNotOverflow(t *testing.T) {
	for _, all := range [][kinds]func() *steps{plainSteps, quotedSteps} {
		for kind, of := range all {
			for i, to := range of() {
				if weight := to & (1<<digitsAt - 1); weight*together >= 1<<digitsAt {
					t.Errorf("kind %d: step %d weighs %d", kind, i, weight)
				}
				if state := to >> stateAt; state >= stepRows {
					t.Errorf("kind %d: step %d leads to %d", kind, i, state)
				}
			}
		}
	}
}

func FuzzSizeQuoted(f *testing.F) {
	f.Add(`a "line"` + "\n\t")
	f.Fuzz(func(t *testing.T, text string) {
		got := SizeQuoted(text, Code)
		if got.Bytes < 0 || got.Bytes > len(text) || got.Digits+got.Signs+got.Others > got.Bytes || got.Tokens > 2*len(text) {
			t.Errorf("SizeQuoted(%q) = %+v", text, got)
		}
	})
}
