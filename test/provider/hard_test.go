package provider_test

import (
	"math"
	"strings"
	"testing"

	"secateur/test/provider"
)

// If predictions of a tokenizer's counts are far off, the program spends less on rewriting than it
// assumes to have saved.
func TestNothingCostsMoreWhateverTheTokenizer(t *testing.T) {
	for name, split := range provider.Hard {
		for _, terms := range []provider.Terms{provider.Claude, provider.DeepSeek} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for seed := range max(*seeds, 1) {
					w := newWorld(t, terms, nil)
					w.ruler.Split, w.most, w.within = split, math.MaxInt, 1
					longAndMixed(w, 100*seed+1)
					if testing.Verbose() {
						t.Logf("worst %.4f, off by %.4f, end %s", w.worst, w.off, w.ends())
					}
				}
			})
		}
	}
}

// longAndMixed is a conversation of many results, few of them large, with one-line texts among
// others.
func longAndMixed(w *world, seed uint64) {
	k := newTalk("mixed", seed)
	for range 90 {
		w.send(k)
		size := 200 + k.IntN(2800)
		if k.IntN(7) == 0 {
			size = 4500 + k.IntN(8000)
		}
		text := k.result(size)
		if k.IntN(3) == 0 {
			text = strings.ReplaceAll(k.json(size), "\n", "")
		}
		k.call(text)
	}
}
