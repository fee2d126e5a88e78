package bill

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
	Grain   float64 // what all counts of cached tokens so far are multiples of; 0: there was none
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
	Was     Size // of what had been taken out of it when it went out before
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
	if u.Told && u.Cached > 0 {
		a.Grain = commonDivisor(a.Grain, u.Cached)
	}
	a = a.book(t, req, u)
	a.Last = Counted{Pieces: len(req.Pieces), Input: u.Input, Removed: removed(req.Pieces)}
	return a
}

// expected is how much of a prompt the cache is expected to have.
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

// Lesson is what the answer to a request has taught about the cache of its model: whether a
// prompt was found after the pause. It is not ok where nothing can be told.
func (a Account) Lesson(t Terms, req Request, u Usage) (found, ok bool) {
	t = t.With(req.Marks)
	hit := a.upTo(t, req, a.found(t, req, req.Same))
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

// Teach adds what the answer to a request has taught to what was known about the model.
func (a Account) Teach(l Learned, t Terms, req Request, u Usage) Learned {
	if found, ok := a.Lesson(t, req, u); ok { // of how long its prompts live
		l = l.Pause(req.Pause, found)
	}
	a.learn(req, u)
	if a.Scale.Suffices() {
		l.Weights = a.Scale.Weights()
	}
	return l
}
