package bill

// Account is the cost of a lane so far, in units of one uncached input token. The zero value is the
// account of a new lane.
type Account struct {
	Spent float64 // by the provider's counts
	Kept  float64 // saved by the provider's counts; negative where rewriting has cost more
	Cut   Size    // removed from requests, each time at the rate it would have paid
	Owed  float64 // spent on fetching cut results back

	Guessed float64 // how far Spent may be off, because the provider did not count some of it

	// Claimed is the estimated cost of this branch's rewrites, made when they were decided. All
	// branches of a conversation share one account, so no branch may spend what others have
	// claimed.
	Claimed float64

	Scale   Scale
	Last    Counted
	Grain   float64 // all counts of cached tokens so far are multiples of it; 0: no count yet
	Entries []Entry // places in a cache of endings or markers, in order; never changed in place
}

// Counted is the last prompt that the provider counted.
type Counted struct {
	Pieces  int // number of pieces; 0: no prompt was counted
	Input   float64
	Removed Size // text removed from it
}

// Piece is a stretch of a prompt.
type Piece struct {
	Size    Size // as it is sent
	Removed Size // text removed from it
	Was     Size // text that had been removed from it when it was last sent
	Result  bool // it is a tool result
	Ends    bool // a cache of endings can find the prompt up to its end

	// Share of its estimated tokens that masking now would save; 0: it may not be masked.
	Saves  float64
	Passed int // earlier requests that carried it
}

// Request is a prompt and what we know about it.
type Request struct {
	Head   Size // everything before the first piece
	Pieces []Piece
	Sent   int     // number of pieces sent before; unless Cold, the cache has them as they were
	Same   int     // number of these that are sent unchanged
	Likely int     // number of pieces that the cache likely has, before any change
	Root   int     // number of leading pieces that other conversations may share
	Cold   bool    // assume that the cache has nothing of it
	Pause  float64 // seconds since a request with the same beginning; 0: unknown
	At     float64 // when it is sent, in seconds
	Marks  []Mark  // where it asks a cache of markers to store it
	Missed float64 // tokens that the cache has missed through our fault; see [Usage]
}

// Saved returns the pass-through cost minus the amount spent. It also becomes more accurate for
// past requests as the scale learns how the provider counts.
func (a Account) Saved() float64 {
	if a.Cut == (Size{}) {
		return a.Kept
	}
	return a.Kept + a.Scale.Count(a.Cut)
}

// Through returns the cost of passing everything through unchanged.
func (a Account) Through() float64 { return a.Spent + a.Saved() }

// Ratio returns the amount spent divided by the pass-through cost, or 1 while both are 0.
func (a Account) Ratio() float64 { return Ratio(a.Spent, a.Saved()) }

// Ratio returns spent / (spent + saved), or 1 if nothing was spent or saved.
func Ratio(spent, saved float64) float64 {
	if spent+saved <= 0 || saved == 0 {
		return 1
	}
	return spent / (spent + saved)
}

// Estimate books a request whose usage the provider did not report.
func (a Account) Estimate(t Terms, req Request) Account {
	t = t.With(req.Marks)
	u := Usage{Input: a.size(req), Told: true}
	u.Cached = a.expected(t, req, u.Input)
	guessed := a.guessed(t, req, u)
	a = a.book(t, req, u)
	a.Guessed += guessed
	return a
}

// Settle books a request by the provider's counts. Missed tokens are a loss: the caller must clear
// them if the client has changed its messages, or if the request rewrites messages on purpose.
func (a Account) Settle(t Terms, req Request, u Usage) Account {
	t = t.With(req.Marks)
	req.Missed = u.Missed
	if !u.Told { // no cache count: assume the usual hit
		u.Cached = a.expected(t, req, u.Input)
		u.Wrote, u.Hour = 0, 0
	}
	a.learn(req, u)
	if u.Told && u.Cached > 0 {
		a.Grain = commonDivisor(a.Grain, u.Cached)
	}
	a = a.book(t, req, u)
	a.Last = Counted{Pieces: len(req.Pieces), Input: u.Input, Removed: removed(req.Pieces)}
	return a
}

// expected returns how many tokens of a prompt the cache is expected to have.
func (a Account) expected(t Terms, req Request, input float64) float64 {
	if req.Cold {
		return 0
	}
	return min(t.Cacheable(a.upTo(t, req, a.found(t, req, min(req.Same, req.Likely)))), input)
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
		if out := &req.Pieces[i].Removed; *out != (Size{}) {
			cut = cut.Plus(out.times(t.rate(req, i, found)))
		}
	}
	a.Cut = a.Cut.Plus(cut)
	a.Kept += t.cost(through) - t.cost(sent) - a.Scale.Count(cut)
	return a
}

// sent returns the prompt as the provider counted it. A prompt too short for the cache is not
// written to it.
func (a Account) sent(t Terms, req Request, u Usage) Prompt {
	p := Prompt{Total: u.Input, Cached: min(u.Cached, u.Input), Hour: min(u.Hour, u.Wrote)}
	switch {
	case u.Wrote > 0 || u.WroteTold: // the rest costs the plain input price
		p.Plain = max(0, p.Total-p.Cached-u.Wrote)
	case p.Total < t.minimum() && p.Cached == 0:
		p.Plain = p.Total
	case t.Kind == Markers:
		p.Plain = min(max(0, a.size(req)-a.position(req, marked(req.Marks))), p.Total-p.Cached)
		p.Hour = min(max(0, a.position(req, hourMarked(req.Marks))-p.Cached), p.Total-p.Cached-p.Plain)
	}
	return p
}

// Lesson reports whether a prompt was found in the model's cache after the pause. ok is false if
// the response does not tell.
func (a Account) Lesson(t Terms, req Request, u Usage) (found, ok bool) {
	t = t.With(req.Marks)
	hit := a.upTo(t, req, a.found(t, req, req.Same))
	if !u.Told || u.Missed > 0 || req.Pause <= 0 || req.Same == 0 || !t.roomy(hit) {
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

// learn compares the growth of the prompt with the growth of the provider's count.
func (a *Account) learn(req Request, u Usage) {
	last := a.Last
	if last.Pieces == 0 {
		a.Scale.first(req.Head.Plus(sizeOf(req.Pieces)), u.Input)
		// it has more than instructions, which we may not see in full
		if len(req.Pieces) > req.Root {
			a.Scale.learn(req.Head.Plus(sizeOf(req.Pieces)), u.Input)
		}
		return
	}
	if grown, ok := a.grown(req); ok {
		a.Scale.learn(grown, u.Input-last.Input)
	}
}

// Teach adds the lessons of one response to what is known about the model.
func (a Account) Teach(l Learned, t Terms, req Request, u Usage) Learned {
	if found, ok := a.Lesson(t, req, u); ok { // how long its prompts live
		l = l.Pause(req.Pause, found)
	}
	a.learn(req, u)
	if a.Scale.Suffices() {
		l.Weights = a.Scale.Weights()
	}
	return l
}
