package tokens

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Samples of a long text give an estimate within a twentieth of the whole text's, for any content.
func TestSampleIsCloseToTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := map[string]func(i int) string{
		"log": func(i int) string {
			return fmt.Sprintf("2026-03-01T10:%02d:%02d INFO worker-%d: built package_%d in %d ms\n", i/60%60, i%60, i%7, i, random.IntN(999))
		},
		"prose": func(i int) string {
			return strings.Repeat("The quick brown fox jumps over the lazy dog, again. ", 1+i%3) + "\n"
		},
		"accents":  func(int) string { return "Größe, naïveté, 東京の天気は晴れ, Ελλάδα; " },
		"one line": func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"n%d","on":true},`, i, random.IntN(1e6)) },
	}
	build := func(line func(int) string, size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.String()[:size]
	}
	check := func(name, text string) {
		whole := float64(Estimate(text, Logs))
		if got := float64(Sample(text, Logs)); got < .95*whole || got > 1.05*whole {
			t.Errorf("%s, %d bytes: %.0f tokens, the whole has %.0f", name, len(text), got, whole)
		}
	}
	for name, line := range lines {
		for _, size := range []int{1000, samples * sampleBytes, samples*sampleBytes + 1, 100_000, 1 << 20} {
			check(name, build(line, size))
		}
	}
	check("a head unlike its tail", build(lines["prose"], 1<<20)+build(lines["one line"], 1<<20))
}
