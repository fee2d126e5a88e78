package bill

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReachableEntries compares the lookup of all places at once with single lookups, in random
// prompts.
func TestReachableEntries(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		terms := Terms{Cache: Cache{Kind: []Kind{Endings, Markers}[seed%2]}}
		req := Request{Pieces: make([]Piece, 1+r.IntN(90)), At: 1e6}
		for i := range req.Pieces {
			req.Pieces[i].Ends = r.IntN(2) == 0
		}
		for range r.IntN(4) {
			req.Marks = append(req.Marks, Mark{Pieces: r.IntN(len(req.Pieces) + 1)})
		}
		var a Account
		for range r.IntN(12) {
			a.Entries = append(a.Entries, Entry{Pieces: r.IntN(len(req.Pieces) + 1), At: 1e6 - float64(r.IntN(2*endingLife)), Hour: r.IntN(2) == 0})
		}
		all := a.reachable(terms, req)
		for same := range req.Pieces {
			last := slices.IndexFunc(all, func(e int) bool { return e > same })
			if last < 0 {
				last = len(all)
			}
			if got, want := all[last-1], a.entry(terms, req, same); got != want {
				t.Fatalf("seed %d: up to %d pieces reachable says %d, entry %d", seed, same, got, want)
			}
		}
	}
}
