package pruner

import (
	"math/rand/v2"
	"strings"
	"testing"

	"secateur/internal/rawjson"
)

// The computed size equals the size in a response: the text quoted, and the quoted text quoted
// again.
func TestEncodedSizeIsWhatAnAnswerTakes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := make([]byte, random.IntN(200))
		for i := range text {
			text[i] = byte(random.IntN(256)) >> random.IntN(3)
		}
		once := rawjson.AppendEscaped(nil, string(text))
		want := len(once) + len(rawjson.AppendEscaped(nil, string(once)))
		got := encodedSize(string(text), 1<<20)
		valid := strings.ToValidUTF8(string(text), "") == string(text)
		if valid && got != want || got < want {
			t.Fatalf("encodedSize(%q) = %d, want %d", text, got, want)
		}
	}
}
