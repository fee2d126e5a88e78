package bill

import "math"

// Account is what a lane has cost so far, in the price of uncached input tokens. The zero
// value is a new lane's.
type Account struct {
	Spent float64 // by the provider's counts
	Kept  float64 // what was saved by the provider's counts: less than nothing for what rewriting has cost
	Cut   Size    // what was taken out of requests, each time at the rate it would have paid
	Owed  float64 // what went into getting results back that had been cut

	// Claimed is what the rewrites of this branch were reckoned to cost when they were
	// decided. All branches of a conversation share one account: what others have claimed
	// cannot be spent again.
	Claimed float64

	Scale Scale
	Last  Counted
}

// Counted is a prompt as the provider counted it last.
type Counted struct {
	Pieces  int // how many it had; 0: none was counted
	Input   float64
	Removed Size // of what had been taken out of it
}

// Piece is a stretch of a prompt.
type Piece struct {
	Size    Size // as it goes out
	Removed Size // of what was taken out of it
	Result  bool // it is a tool's result

	Saves  float64 // of its tokens, as we estimate them, go if it is masked now; 0: it may not be
	Passed int     // earlier requests that it went out with
}

// Request is a prompt with what is known of it.
type Request struct {
	Head   Size // of what stands before the first piece
	Pieces []Piece
	Sent   int     // so many pieces went out before: unless it is cold, the cache has them as they were
	Same   int     // of these so many go out as they did
	Likely int     // so many pieces the cache is likely to have, before any change
	Root   int     // so many pieces other conversations may begin with too
	Cold   bool    // the cache is taken to have nothing of it
	Pause  float64 // seconds since a request that began alike; 0: unknown
}

// Saved is what passing everything through would have cost more. The more is known of how the provider counts, the
// better it is known, also of requests long past.
func (a Account) Saved() float64 {
	if a.Cut == (Size{}) {
		return a.Kept
	}
	return a.Kept + a.Scale.Count(a.Cut)
}

// Through is what passing everything through would have cost.
func (a Account) Through() float64 { return a.Spent + a.Saved() }

// Ratio is what was spent over what passing through would have cost; 1 while
// nothing was.
func (a Account) Ratio() float64 { return Ratio(a.Spent, a.Saved()) }

// Ratio is what was spent over that and what was saved; 1 while nothing was.
func Ratio(spent, saved float64) float64 {
	if spent+saved <= 0 || saved == 0 {
		return 1
	}
	return spent / (spent + saved)
}

// Estimate books a request of which the provider's counts are not known.
func (a Account) Estimate(t Terms, req Request) Account {
	u := Usage{Input: a.size(req), Told: true}
	u.Cached = a.expected(t, req, u.Input)
	return a.book(t, req, u)
}

// Settle books a request by what the provider counted.
func (a Account) Settle(t Terms, req Request, u Usage) Account {
	if !u.Told { // the usual is expected of a provider that keeps silent
		u.Cached = a.expected(t, req, u.Input)
	}
	a.learn(req, u)
	a = a.book(t, req, u)
	a.Last = Counted{Pieces: len(req.Pieces), Input: u.Input, Removed: removed(req.Pieces)}
	return a
}

// expected is how much of a prompt the cache is expected to have.
func (a Account) expected(t Terms, req Request, input float64) float64 {
	if req.Cold {
		return 0
	}
	return min(t.Cacheable(a.position(req, min(req.Same, req.Likely))), input)
}

func (a Account) book(t Terms, req Request, u Usage) Account {
	if !t.Known() {
		return a
	}
	sent := Prompt{Total: u.Input, Cached: min(u.Cached, u.Input)}
	spent := t.Cost(sent)
	if u.Wrote > 0 { // the rest costs neither more nor less than input
		spent -= (t.Write - 1) * max(0, sent.Total-sent.Cached-u.Wrote)
	}
	a.Spent += spent
	through, found := a.through(t, req, sent)
	if through == sent {
		return a
	}
	cut := removed(req.Pieces[:found]).times(t.Read).Plus(removed(req.Pieces[found:]).times(t.Write))
	a.Cut = a.Cut.Plus(cut)
	a.Kept += t.Cost(through) - t.Cost(sent) - a.Scale.Count(cut)
	return a
}

// through is what the prompt would have counted had nothing ever been taken out, and how many of its pieces the cache
// would have had.
func (a Account) through(t Terms, req Request, sent Prompt) (through Prompt, found int) {
	hit, likely := a.position(req, req.Same), a.position(req, min(req.Same, req.Likely))
	near := func(at float64) bool { return math.Abs(sent.Cached-at) <= 0.1*at+t.block() }
	changed := req.Same < min(req.Sent, req.Likely)
	rewrote := 0.0
	switch {
	case !changed && near(likely):
		found = min(req.Same, req.Likely)
	case !changed && near(hit):
		found = req.Same
	case !changed || req.Cold && !a.foundAfterAll(t, req, sent), t.roomy(hit) && sent.Cached < 0.5*hit:
		found = a.reach(req, sent.Cached) // what the cache had lost it would have lost of the whole as well
	default: // what was there before the change was found: the rest would have been, too
		found = req.Likely
		rewrote = max(0, t.Cacheable(a.position(req, found))-sent.Cached)
	}
	through.Total = sent.Total + a.Scale.Count(removed(req.Pieces))
	through.Cached = min(sent.Cached+rewrote+a.Scale.Count(removed(req.Pieces[:found])), through.Total)
	if sent.Cached == 0 && through.Cached < t.minimum() {
		return Prompt{Total: through.Total}, 0
	}
	return through, found
}

// foundAfterAll tells whether a cache that was taken for cold has proved to be warm: it had more than
// what other conversations begin with as well.
func (a Account) foundAfterAll(t Terms, req Request, sent Prompt) bool {
	return sent.Cached > a.position(req, req.Root)+2*t.block()
}

// Lesson is what the answer to a request has taught about the cache of its model: whether a
// prompt was found after the pause. It is not ok where nothing can be told.
func (a Account) Lesson(t Terms, req Request, u Usage) (found, ok bool) {
	hit := a.position(req, req.Same)
	if !u.Told || req.Pause <= 0 || req.Same == 0 || !t.roomy(hit) {
		return false, false
	}
	switch root := a.position(req, req.Root); {
	case u.Cached > root+2*t.block() && u.Cached >= 0.8*hit-t.block():
		return true, true
	case u.Cached < 0.5*hit && u.Cached <= root+2*t.block():
		return false, true
	}
	return false, false
}

// learn compares how the prompt has grown with how it was counted.
func (a *Account) learn(req Request, u Usage) {
	last := a.Last
	if last.Pieces == 0 {
		a.Scale.first(req.Head.Plus(sizeOf(req.Pieces)), u.Input)
		if len(req.Pieces) > req.Root { // it has more than instructions, of which not all may be seen
			a.Scale.learn(req.Head.Plus(sizeOf(req.Pieces)), u.Input)
		}
		return
	}
	if grown, ok := a.grown(req); ok {
		a.Scale.learn(grown, u.Input-last.Input)
	}
}

// grown is what has come to a prompt since it was counted last; it is not ok where anything else has changed.
func (a Account) grown(req Request) (size Size, ok bool) {
	known := a.Last.Pieces
	if known == 0 || known > req.Same || known >= len(req.Pieces) {
		return Size{}, false
	}
	return sizeOf(req.Pieces[known:]), true
}

func sizeOf(pieces []Piece) (sum Size) {
	for i := range pieces {
		sum = sum.Plus(pieces[i].Size)
	}
	return sum
}

// size is how many tokens the provider is expected to count.
func (a Account) size(req Request) float64 { return a.position(req, len(req.Pieces)) }

// position is how many tokens are expected before a piece, as the prompt goes out. What was
// counted last is taken for exact, as long as it goes out again.
func (a Account) position(req Request, piece int) float64 {
	weights := a.Scale.Weights()
	scaled := func(pieces []Piece) float64 { return weights.Count(sizeOf(pieces)) }
	head := weights.Count(req.Head)
	switch known := a.Last.Pieces; {
	case known == 0 || known > len(req.Pieces):
		return head + scaled(req.Pieces[:piece])
	case piece >= known:
		return a.Last.Input + a.regained(req, known) + scaled(req.Pieces[known:piece])
	default:
		before, behind := head+scaled(req.Pieces[:piece]), scaled(req.Pieces[piece:known])
		if before+behind <= 0 {
			return 0
		}
		return max(0, a.Last.Input+a.regained(req, known)) * before / (before + behind)
	}
}

// regained is by how many tokens the pieces that were counted last are longer now: fewer than
// nothing where more is taken out of them.
func (a Account) regained(req Request, known int) float64 {
	if req.Same >= known {
		return 0
	}
	return a.Scale.Count(a.Last.Removed) - a.Scale.Count(removed(req.Pieces[:known]))
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

func removed(pieces []Piece) (sum Size) {
	for i := range pieces {
		sum = sum.Plus(pieces[i].Removed)
	}
	return sum
}

// Size is how many tokens the provider is expected to count.
func (a Account) Size(req Request) float64 { return a.size(req) }

// StaysCached tells whether a prompt that has been made shorter is still long enough for the
// cache, and shorter by enough for what is lost where a block of the cache ends.
func (a Account) StaysCached(t Terms, req Request) bool {
	if t.Known() && t.Read >= t.Write { // there is no cache
		return true
	}
	const blocks = 4
	return t.roomy(a.size(req)) && a.Scale.Count(removed(req.Pieces)) >= blocks*t.block()
}

// Teach adds what the answer to a request has taught to what was known about the model.
func (a Account) Teach(l Learned, t Terms, req Request, u Usage) Learned {
	if found, ok := a.Lesson(t, req, u); ok {
		l = l.Pause(req.Pause, found)
	}
	a.learn(req, u)
	const enough = 2000 // tokens from which on a scale is worth knowing
	if a.Scale.Products[0] > enough {
		l.Weights = a.Scale.Weights()
	}
	return l
}
