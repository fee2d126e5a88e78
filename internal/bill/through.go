package bill

import (
	"math"
	"slices"
)

// through is what the prompt would have counted had nothing ever been taken out, and how many of its pieces the cache
// would have had.
func (a Account) through(t Terms, req Request, sent Prompt) (through Prompt, found int) {
	out := a.Scale.Count(removed(req.Pieces))
	if out == 0 && req.Same >= min(req.Sent, req.Likely) {
		return sent, 0
	}
	found, rewrote := a.foundWhole(t, req, sent)
	through = Prompt{Total: sent.Total + out, Hour: sent.Hour, Plain: sent.Plain}
	if t.Kind == Markers {
		written := max(found, marked(req.Marks))
		through.Plain += a.Scale.Count(removed(req.Pieces[written:]))
		if hour := hourMarked(req.Marks); hour > found {
			through.Hour += a.Scale.Count(removed(req.Pieces[found:hour]))
		}
	} else if sent.Plain == sent.Total && through.Total >= t.minimum() {
		through.Plain = 0 // the whole would have been long enough for the cache
	}
	// Where a block of the whole ends is not where one of what was sent does. With short blocks that is chance, and evens out.
	more := a.Scale.Count(removed(req.Pieces[:found]))
	if shorter := a.position(req, found); t.block() > Block {
		more = t.Cacheable(shorter+more) - t.Cacheable(shorter)
	}
	through.Cached = min(sent.Cached+rewrote+more, through.Total-through.Plain)
	through.Hour = min(max(0, through.Hour-rewrote), through.Total-through.Plain-through.Cached)
	if sent.Cached == 0 && through.Cached < t.minimum() {
		through.Cached = 0
		return through, 0
	}
	return through, found
}

// foundWhole is how many pieces the cache would have had of a prompt with nothing ever taken out of it, and how many of
// the tokens that go out it had to read again only because they are not what they were.
func (a Account) foundWhole(t Terms, req Request, sent Prompt) (found int, rewrote float64) {
	same, usual := a.found(t, req, req.Same), a.found(t, req, min(req.Same, req.Likely))
	hit, likely := a.position(req, same), a.position(req, usual)
	near := func(at float64) bool { return math.Abs(sent.Cached-at) <= 0.1*at+max(t.block(), Block) }
	changed := req.Same < min(req.Sent, req.Likely)
	switch {
	case !changed && near(likely):
		return usual, 0
	case !changed && near(hit):
		return same, 0
	case !changed && t.precise(): // an entry may live longer than it is promised to
		for _, e := range slices.Backward(a.Entries) {
			if e.Pieces <= req.Same && near(a.position(req, e.Pieces)) {
				return e.Pieces, 0
			}
		}
		return a.reach(req, sent.Cached), 0
	case !changed || req.Cold && !a.foundAfterAll(t, req, sent), t.roomy(hit) && sent.Cached < 0.5*hit:
		return a.reach(req, sent.Cached), 0 // what the cache had lost it would have lost of the whole as well
	}
	// What was there before the change was found: the rest would have been, too.
	found = a.found(t, req, req.Likely)
	return found, max(0, t.Cacheable(a.position(req, found))-sent.Cached)
}

// foundAfterAll tells whether a cache that was taken for cold has proved to be warm: it had more than
// what other conversations begin with as well.
func (a Account) foundAfterAll(t Terms, req Request, sent Prompt) bool {
	return sent.Cached > a.position(req, req.Root)+2*max(t.block(), Block)
}

// reach is how many pieces stand within the first so many tokens.
func (a Account) reach(req Request, tokensWithin float64) (n int) {
	weights := a.Scale.Weights()
	at := a.position(req, 0)
	for ; n < len(req.Pieces); n++ {
		if at += weights.Count(req.Pieces[n].Size); at > tokensWithin {
			break
		}
	}
	return n
}
