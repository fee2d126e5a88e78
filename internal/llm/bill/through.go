package bill

import (
	"math"
	"slices"
)

// through returns the prompt as it would have been counted without any cuts. found is how many of
// its pieces the cache would have had.
func (a Account) through(t Terms, req Request, sent Prompt) (through Prompt, found int) {
	out := a.Scale.Count(removed(req.Pieces))
	if out == 0 && req.Missed == 0 && req.Same >= min(req.Sent, req.Likely) {
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
		through.Plain = 0 // the whole prompt would have been long enough for the cache
	}
	through.Cached = min(sent.Cached+rewrote+a.moreCached(t, req, sent, found), through.Total-through.Plain)
	through.Hour = min(max(0, through.Hour-rewrote), through.Total-through.Plain-through.Cached)
	if sent.Cached == 0 && through.Cached < t.minimum() {
		through.Cached = 0
		return through, 0
	}
	return through, found
}

// moreCached returns how many more tokens of these pieces the cache would have had without any
// cuts. The blocks of the whole prompt end elsewhere than those of the prompt that was sent.
func (a Account) moreCached(t Terms, req Request, sent Prompt, found int) float64 {
	shorter, more := a.position(req, found), a.Scale.Count(removed(req.Pieces[:found]))
	if t.block() > Block {
		return t.Cacheable(shorter+more) - t.Cacheable(shorter)
	}
	rest := shorter - sent.Cached
	isInBlocks := a.Grain > 1 && a.Grain <= Block // as far as observed
	if !isInBlocks || sent.Cached == 0 || rest < 0 || rest >= a.Grain {
		return more // the hit does not end with the last whole block
	}
	return inBlocks(shorter+more, uncertain*more, a.Grain) - sent.Cached
}

// uncertain is the relative error assumed for an estimate of removed text.
const uncertain = 0.05

// inBlocks returns how many tokens lie within whole blocks, averaged over all counts at most off
// away from tokens.
func inBlocks(tokens, off, block float64) float64 {
	from, to := (tokens-off)/block, (tokens+off)/block
	if to-from < 1e-3 {
		return block * math.Floor(tokens/block)
	}
	// sum returns the integral of the floor function from 0 to x.
	sum := func(x float64) float64 {
		n := math.Floor(x)
		return n * (x - (n+1)/2)
	}
	return block * (sum(to) - sum(from)) / (to - from)
}

// commonDivisor returns the greatest common divisor. A value below 1 is no count and is ignored.
func commonDivisor(a, b float64) float64 {
	for b >= 1 {
		a, b = b, math.Mod(a, b)
	}
	return max(a, 1)
}

// foundWhole returns how many pieces the cache would have had without any cuts. rewrote is how many
// of the sent tokens missed the cache only because of rewriting.
func (a Account) foundWhole(t Terms, req Request, sent Prompt) (found int, rewrote float64) {
	if req.Missed > 0 { // passing through, the cache would have found it
		found = a.found(t, req, req.Likely)
		return found, min(req.Missed, max(0, t.Cacheable(a.upTo(t, req, found))-sent.Cached))
	}
	same, usual := a.found(t, req, req.Same), a.found(t, req, min(req.Same, req.Likely))
	hit, likely := a.upTo(t, req, same), a.upTo(t, req, usual)
	near := func(at float64) bool { return math.Abs(sent.Cached-at) <= 0.1*at+max(t.block(), Block) }
	changed := req.Same < min(req.Sent, req.Likely)
	switch {
	case !changed && near(likely):
		return usual, 0
	case !changed && near(hit):
		return same, 0
	case !changed && t.precise(): // an entry may outlive its guarantee
		for _, e := range slices.Backward(a.Entries) {
			if e.Pieces <= req.Same && near(a.position(req, e.Pieces)) {
				return e.Pieces, 0
			}
		}
		return a.reach(req, sent.Cached), 0
	case !changed || req.Cold && !a.foundAfterAll(t, req, sent), t.roomy(hit) && sent.Cached < 0.5*hit:
		// the cache would have lost the whole prompt's pieces as well
		return a.reach(req, sent.Cached), 0
	}
	// The part before the change was found, so the rest would have been found, too.
	found = a.found(t, req, req.Likely)
	return found, max(0, t.Cacheable(a.upTo(t, req, found))-sent.Cached)
}

// foundAfterAll reports whether a cache taken for cold proved to be warm. It then had more than the
// beginning shared with other conversations.
func (a Account) foundAfterAll(t Terms, req Request, sent Prompt) bool {
	return sent.Cached > a.position(req, req.Root)+2*max(t.block(), Block)
}

// reach returns how many pieces lie within the first tokens.
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
