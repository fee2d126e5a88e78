package bill

import (
	"math"
	"slices"
)

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

	Scale   Scale
	Last    Counted
	Entries []Entry // what a cache of endings or markers has, by their places; it is never changed in place
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
	Ends    bool // a cache of endings can find the prompt up to its end

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
	At     float64 // when it is sent, in seconds
	Marks  []Mark  // where it asks a cache of markers to keep it
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
	t = t.With(req.Marks)
	u := Usage{Input: a.size(req), Told: true}
	u.Cached = a.expected(t, req, u.Input)
	return a.book(t, req, u)
}

// Settle books a request by what the provider counted.
func (a Account) Settle(t Terms, req Request, u Usage) Account {
	t = t.With(req.Marks)
	if !u.Told { // the usual is expected of a provider that keeps silent
		u.Cached = a.expected(t, req, u.Input)
		u.Wrote, u.Hour = 0, 0
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
	return min(t.Cacheable(a.position(req, a.found(t, req, min(req.Same, req.Likely)))), input)
}

// found is how many pieces the cache finds of a prompt of which so many are as they were.
func (a Account) found(t Terms, req Request, same int) int {
	if !t.precise() || a.Last.Pieces == 0 { // what was never seen is taken to have been sent whole
		return same
	}
	return a.entry(t, req, same)
}

// entry is the last of the known entries that this request lets the cache find, of a prompt of which so many pieces are
// as they were.
func (a Account) entry(t Terms, req Request, same int) (best int) {
	for _, e := range a.Entries {
		if e.Pieces > best && e.Pieces <= same && t.alive(e, req.At) && t.reaches(req, e.Pieces) {
			best = e.Pieces
		}
	}
	return best
}

func (a Account) book(t Terms, req Request, u Usage) Account {
	if !t.Known() {
		return a
	}
	sent := a.sent(t, req, u)
	a.Spent += t.cost(sent)
	through, found := a.through(t, req, sent)
	a.Entries = a.remember(t, req)
	if through == sent {
		return a
	}
	var cut Size
	for i := range req.Pieces {
		cut = cut.Plus(req.Pieces[i].Removed.times(t.rate(req, i, found)))
	}
	a.Cut = a.Cut.Plus(cut)
	a.Kept += t.cost(through) - t.cost(sent) - a.Scale.Count(cut)
	return a
}

// sent is the prompt as it was counted. What is too short for the cache is not written to it.
func (a Account) sent(t Terms, req Request, u Usage) Prompt {
	p := Prompt{Total: u.Input, Cached: min(u.Cached, u.Input), Hour: min(u.Hour, u.Wrote)}
	switch {
	case u.Wrote > 0 || u.WroteTold: // the rest costs neither more nor less than input
		p.Plain = max(0, p.Total-p.Cached-u.Wrote)
	case p.Total < t.minimum() && p.Cached == 0:
		p.Plain = p.Total
	case t.Kind == Markers:
		p.Plain = min(max(0, a.size(req)-a.position(req, marked(req.Marks))), p.Total-p.Cached)
		p.Hour = min(max(0, a.position(req, hourMarked(req.Marks))-p.Cached), p.Total-p.Cached-p.Plain)
	}
	return p
}

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
	// Where a block of the whole ends is not where one of what was sent does.
	shorter := a.position(req, found)
	more := t.Cacheable(shorter+a.Scale.Count(removed(req.Pieces[:found]))) - t.Cacheable(shorter)
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

// remember is what the cache has when a request was sent.
func (a Account) remember(t Terms, req Request) (entries []Entry) {
	if !t.precise() {
		return nil
	}
	hit := a.found(t, req, req.Same)
	for _, e := range a.Entries {
		if e.Pieces > min(req.Same, len(req.Pieces)) || !t.alive(e, req.At) {
			continue // of a prompt that is not sent any more, or gone
		}
		if e.Pieces == hit {
			e.At = req.At
		}
		entries = append(entries, e)
	}
	for _, m := range t.kept(req) {
		i, known := slices.BinarySearchFunc(entries, m.Pieces, func(e Entry, n int) int { return e.Pieces - n })
		e := Entry{Pieces: m.Pieces, At: req.At, Hour: m.Hour}
		if known {
			entries[i] = e
		} else {
			entries = slices.Insert(entries, i, e)
		}
	}
	if more := len(entries) - maxEntries; more > 0 { // the first ones every request comes back to
		entries = slices.Delete(entries, 2, 2+more)
	}
	return entries
}

// foundAfterAll tells whether a cache that was taken for cold has proved to be warm: it had more than
// what other conversations begin with as well.
func (a Account) foundAfterAll(t Terms, req Request, sent Prompt) bool {
	return sent.Cached > a.position(req, req.Root)+2*max(t.block(), Block)
}

// Lesson is what the answer to a request has taught about the cache of its model: whether a
// prompt was found after the pause. It is not ok where nothing can be told.
func (a Account) Lesson(t Terms, req Request, u Usage) (found, ok bool) {
	t = t.With(req.Marks)
	hit := a.position(req, a.found(t, req, req.Same))
	if !u.Told || req.Pause <= 0 || req.Same == 0 || !t.roomy(hit) {
		return false, false
	}
	block := max(t.block(), Block)
	switch root := a.position(req, req.Root); {
	case u.Cached > root+2*block && u.Cached >= 0.8*hit-block:
		return true, true
	case u.Cached < 0.5*hit && u.Cached <= root+2*block:
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
	t = t.With(req.Marks)
	if t.Known() && t.Read >= t.Write { // there is no cache
		return true
	}
	if !t.roomy(a.shortest(t, req)) {
		return false
	}
	return t.precise() || a.Scale.Count(removed(req.Pieces)) >= t.enoughBlocks()*t.block()
}

// shortest is the shortest beginning with anything taken out that the cache is asked to keep.
func (a Account) shortest(t Terms, req Request) float64 {
	first := slices.IndexFunc(req.Pieces, func(p Piece) bool { return p.Removed.Tokens > 0 })
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

// Teach adds what the answer to a request has taught to what was known about the model.
func (a Account) Teach(l Learned, t Terms, req Request, u Usage) Learned {
	if found, ok := a.Lesson(t, req, u); ok { // of how long its prompts live
		l = l.Pause(req.Pause, found)
	}
	a.learn(req, u)
	const enough = 2000 // tokens from which on a scale is worth knowing
	if a.Scale.Products[0] > enough {
		l.Weights = a.Scale.Weights()
	}
	return l
}
