package bill

import (
	"math"
	"slices"
)

// StaysCached reports whether a shortened prompt is still long enough for the cache. It must also
// be shorter by enough to outweigh the loss at the last, partial block.
func (a Account) StaysCached(t Terms, req Request) bool {
	t = t.With(req.Marks)
	if t.Known() && t.Read >= t.Write { // no cache
		return true
	}
	if !t.roomy(a.shortest(t, req)) {
		return false
	}
	return t.precise() || a.Scale.Count(removed(req.Pieces)) >= t.enoughBlocks()*t.block()
}

// shortest returns the tokens in the shortest beginning with a new cut that the cache is asked to
// store.
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

// enoughBlocks returns how many blocks shorter a prompt must be. The position of its end within a
// block is chance. So is the cost of that with each request: up to (w-r) of a block more or less
// than the whole prompt. Removed text saves r of itself with each request and w of itself once.
// With this many blocks removed, the sum is almost never negative (gambler's ruin).
func (t Terms) enoughBlocks() float64 {
	const least, most = 4, 16
	if !t.Known() || t.Read <= 0 {
		return most
	}
	return min(max(least, (t.Write-t.Read)/math.Sqrt(t.Read)), most)
}
