package bill

import "slices"

// Recount corrects the estimate of what was removed since the last count. The provider counted
// those pieces before, so its counts differ by the removed text and by the new pieces.
func (a Account) Recount(req Request, u Usage) Request {
	known := a.Last.Pieces
	if known == 0 || known > len(req.Pieces) || req.Same >= known {
		return req
	}
	var taken Size
	for i := range req.Pieces[:known] {
		taken = taken.Plus(req.Pieces[i].taken())
	}
	weights := a.Scale.Weights()
	expected, grown := weights.Count(taken), weights.Count(sizeOf(req.Pieces[known:]))
	if expected <= 0 || expected < grown {
		return req // the size of the new pieces is an estimate, too
	}
	times := (a.Last.Input + grown - u.Input) / expected
	if times < minRecount || times > maxRecount {
		return req // something else changed the prompt
	}
	req.Pieces = slices.Clone(req.Pieces)
	for i := range req.Pieces[:known] {
		p := &req.Pieces[i]
		p.Removed = p.Was.Plus(p.taken().times(times))
	}
	return req
}

// Limits for how far an estimate of removed text can be off.
const minRecount, maxRecount = 0.6, 1.6

// taken returns how much was removed from a piece since the last count.
func (p Piece) taken() Size { return p.Removed.Less(p.Was) }
