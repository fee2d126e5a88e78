package bill

import "slices"

// Recount gives a request with what was taken out of it since it was counted last as large as the provider's counts show: what is masked now it has
// counted before, so that the two differ by that, and by what has come since.
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
		return req // what has come since is an estimate, too
	}
	times := (a.Last.Input + grown - u.Input) / expected
	if times < minRecount || times > maxRecount {
		return req // something else has happened to the prompt
	}
	req.Pieces = slices.Clone(req.Pieces)
	for i := range req.Pieces[:known] {
		p := &req.Pieces[i]
		p.Removed = p.Was.Plus(p.taken().times(times))
	}
	return req
}

// An estimate of what was taken out is not off by more.
const minRecount, maxRecount = 0.6, 1.6

// taken is how much was taken out of a piece since it was counted last.
func (p Piece) taken() Size { return p.Removed.Less(p.Was) }
