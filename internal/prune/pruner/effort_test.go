package pruner

import (
	"strings"
	"testing"

	"secateur/internal/prune"
)

// A search does a bounded amount of work between two checks of the clock, for any pattern and any
// line.
func TestASearchLooksAtTheClockOften(t *testing.T) {
	for _, c := range []struct{ rule, pattern, text string }{
		{"a pattern that is dear, on long lines", "a{0,660}b", strings.Repeat(strings.Repeat("a", 100_000)+"\n", 3)},
		{"a pattern that is dear, on short lines", "a{0,660}b", strings.Repeat(strings.Repeat("a", 400)+"\n", 500)},
		{"a pattern that looks far beyond each match", "a*b|a", strings.Repeat("a", 1_000_000)},
		{"a cheap pattern on many empty lines", "x", strings.Repeat("\n", 500_000)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			wanted, err := compilePattern(c.pattern, true, false)
			if err != nil {
				t.Fatal(err)
			}
			looks := 0
			f := finder{room: maxShown, pattern: wanted, text: c.text, lines: prune.IndexLines(c.text), most: 1000, expired: func() bool {
				looks++
				return looks == 3
			}}
			f.run()
			if !f.late || looks != 3 {
				t.Errorf("the clock was looked at %d times and the search ended by it: %t, want at the third look", looks, f.late)
			}
		})
	}
}
