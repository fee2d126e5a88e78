package bill

import (
	"math"
	"slices"
)

// StaysCached tells whether a prompt that has been made shorter is still long enough for the
// cache, and shorter by enough for what is lost where a block of the cache ends.
func (a Account) StaysCached(t Terms, req Request) bool {
	t = t.With(req.Marks)
	if t.Known() && t.Read >= t.Write { // there is no cache
		return true
	}
	if !t.roomy(a.shortest(t, req)) {
		return false
	}
	return t.precise() || a.Scale.Count(removed(req.Pieces)) >= t.enoughBlocks()*t.block()
}

// shortest is the shortest beginning with anything newly taken out that the cache is asked to keep.
func (a Account) shortest(t Terms, req Request) float64 {
	same := min(req.Same, len(req.Pieces))
	first := slices.IndexFunc(req.Pieces[same:], func(p Piece) bool { return p.Removed.Tokens > 0 })
	if first >= 0 {
		first += same
	}
	switch {
	case first < 0 || !t.precise():
		return a.size(req)
	case t.Kind == Endings:
		return a.position(req, first+1)
	}
	end := len(req.Pieces)
	for _, m := range req.Marks {
		if m.Pieces > first {
			end = min(end, m.Pieces)
		}
	}
	return a.position(req, end)
}

// enoughBlocks is how many blocks a prompt has to be shorter by. Where it ends within a block is chance, and so is
// what that costs with each request: up to (w-r) of a block more than the whole would, or less. What is taken out
// brings r of itself with each request and w of itself once; with so much of it the sum is as good as never negative
// (gambler's ruin).
func (t Terms) enoughBlocks() float64 {
	const least, most = 4, 16
	if !t.Known() || t.Read <= 0 {
		return most
	}
	return min(max(least, (t.Write-t.Read)/math.Sqrt(t.Read)), most)
}
