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
	through.Cached = min(sent.Cached+rewrote+a.moreCached(t, req, sent, found), through.Total-through.Plain)
	through.Hour = min(max(0, through.Hour-rewrote), through.Total-through.Plain-through.Cached)
	if sent.Cached == 0 && through.Cached < t.minimum() {
		through.Cached = 0
		return through, 0
	}
	return through, found
}

// moreCached is how many tokens more the cache would have had of so many pieces with nothing ever taken out of them. Where a block of the whole ends is
// not where one of what was sent does.
func (a Account) moreCached(t Terms, req Request, sent Prompt, found int) float64 {
	shorter, more := a.position(req, found), a.Scale.Count(removed(req.Pieces[:found]))
	if t.block() > Block {
		return t.Cacheable(shorter+more) - t.Cacheable(shorter)
	}
	rest := shorter - sent.Cached
	isInBlocks := a.Grain > 1 && a.Grain <= Block // as far as was seen
	if !isInBlocks || sent.Cached == 0 || rest < 0 || rest >= a.Grain {
		return more // what was found does not end with the last whole block of what there was
	}
	return inBlocks(shorter+more, uncertain*more, a.Grain) - sent.Cached
}

// uncertain is by which part an estimate of what was taken out is off, more or less.
const uncertain = 0.05

// inBlocks is how many of so many tokens are within whole blocks, on average over numbers that are at most so far from it.
func inBlocks(tokens, off, block float64) float64 {
	from, to := (tokens-off)/block, (tokens+off)/block
	if to-from < 1e-3 {
		return block * math.Floor(tokens/block)
	}
	sum := func(x float64) float64 { // of the whole numbers below, up to x (an integral)
		n := math.Floor(x)
		return n * (x - (n+1)/2)
	}
	return block * (sum(to) - sum(from)) / (to - from)
}

// commonDivisor is the greatest number that both are multiples of; what is no count has none with any.
func commonDivisor(a, b float64) float64 {
	for b >= 1 {
		a, b = b, math.Mod(a, b)
	}
	return max(a, 1)
}

// foundWhole is how many pieces the cache would have had of a prompt with nothing ever taken out of it, and how many of
// the tokens that go out it had to read again only because they are not what they were.
func (a Account) foundWhole(t Terms, req Request, sent Prompt) (found int, rewrote float64) {
	same, usual := a.found(t, req, req.Same), a.found(t, req, min(req.Same, req.Likely))
	hit, likely := a.upTo(t, req, same), a.upTo(t, req, usual)
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
	return found, max(0, t.Cacheable(a.upTo(t, req, found))-sent.Cached)
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
		if at += weights.piece(&req.Pieces[n]); at > tokensWithin {
			break
		}
	}
	return n
}
