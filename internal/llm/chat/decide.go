package chat

import "secateur/internal/llm/bill"

// Input holds everything that a decision depends on.
type Input struct {
	Past

	Conversation *Conversation
	Model        string // the provider's name
	Replay       bool   // repeat earlier cuts, and make no new ones
	Masking      Settings
	Pruned       map[int]string // pruned forms of the results of Jobs; others are sent whole
	Prices       bill.Prices    // zero: unknown
	Now          int64          // Unix seconds

	// ID returns the id of an original. With Spread it is called concurrently. nil: originals have
	// no ids.
	ID func(text string) string

	Spread Spread // nil: sequential
}

// Spread calls do for 0 to n-1 in at most shares goroutines.
type Spread func(shares, n int, do func(i int))

// Decide plans how the conversation is sent.
func Decide(in Input) *Plan {
	c := in.Conversation
	p := &Plan{in: in, c: c, kinds: make([]Kind, len(c.Messages))}
	p.results, p.summarized = c.relate(), c.summarized()
	p.template = parsePlaceholder(in.Masking)
	p.terms = c.terms(in.Prices, in.Model)
	p.firstPiece = c.firstPieces()
	p.marks = c.marksFor(p.terms, p.firstPiece)
	p.recall()
	p.prune()
	p.pin()
	if in.Masking.Enabled && in.Masking.WindowTurns > 0 && p.results.turns > in.Masking.WindowTurns {
		p.Barrier = c.Barrier(in.Model)
		switch {
		case in.Replay:
			p.Barrier = ReplayOnly
		case in.Off:
			p.Barrier = Refused
		}
		switch {
		case p.Barrier != Open: // earlier masks stay: later messages depend on them
		case in.Masking.Strategy == Sliding:
			p.slide()
		case in.Masking.Strategy == Stepped:
			p.step()
		case in.Masking.Strategy == Priced:
			p.price()
		}
	}
	p.makeCuts()
	return p
}

// recall loads what is known of the messages.
func (p *Plan) recall() {
	past := &p.in.Past
	if past.Record != nil && past.Record.Messages > len(p.c.Messages) {
		past.Record = nil
	}
	p.forms = p.c.formsOf(*past)
	if past.Record != nil {
		p.before = *past.Record
	}
	switch scale := &p.before.Account.Scale; {
	case scale.Suffices(): // the shared lesson would then count twice
	case past.Learned.Weights != (bill.Weights{}):
		scale.Guess = past.Learned.Weights
	case past.Record == nil && past.Sibling != nil: // models of one provider count alike
		scale.Guess = past.Sibling.Account.Scale.Weights()
	}
	if s := past.Sibling; s != nil {
		p.before.Bill = s.Bill
		p.before.Off = p.before.Off || s.Off
	}
	for i := range p.forms.of {
		p.send(i, p.forms.of[i].Kind, p.forms.of[i].Removed)
	}
	if p.forms.isRefused() && past.Alone {
		past.Touched = past.Record.Time // a refused request did not reach the cache
	}
	if past.Touched > 0 {
		p.pause = max(0, float64(p.in.Now-past.Touched))
		p.cold = past.Learned.After(p.pause, p.terms.With(p.marks).Cache)
	}
	p.refetched()
}

// refetched finds results that were fetched again because they had been cut: passing through would
// have avoided that. A recovered result cost a separate request. For one that merely repeats
// another, this is unknown. Messages booked by any lane are skipped.
func (p *Plan) refetched() {
	cut := p.forms.cutResults(p.c)
	if len(cut) == 0 {
		return
	}
	fresh, recovered := 0, 0
	for i := max(p.forms.sent, p.forms.booked); i < len(p.c.Messages); i++ {
		m := &p.c.Messages[i]
		if m.Role != Tool {
			continue
		}
		fresh++
		isBack := p.c.isRecovered(i, p.results.sinceName(i))
		if isBack {
			recovered++
		}
		if isBack || m.Chars >= worthFetching && p.c.repeatsAny(i, cut) {
			p.owed += p.before.Account.Scale.Count(p.c.whole(i))
		}
	}
	p.again = recovered > 0 && recovered == fresh
}

// worthFetching is the least number of characters of a result that counts as fetched again. Short
// ones are often equal by chance.
const worthFetching = 400

// prune applies the pruned forms. A cache stores whole blocks, and no prompts below its minimum.
// There, a slightly shorter prompt can cost more.
func (p *Plan) prune() {
	p.texts = make(map[int]string)
	fresh := false
	answered := p.c.answered()
	for i, kind := range p.kinds {
		text, ok := p.in.Pruned[i]
		switch {
		case ok && p.c.canCut(i) && kind != Masked && !p.dangles(i, text):
			p.texts[i] = text
			p.send(i, Pruned, p.takenOut(i, Pruned))
			if i < answered && p.was(i) == Whole { // sent, but without a record
				p.forms.adopt(Sent{Message: i, Kind: Pruned, Removed: p.removedOf(i)}, answered)
			}
			fresh = fresh || p.was(i) != Pruned
		case kind == Pruned:
			p.send(i, Whole, bill.Size{}) // its bytes are lost; sending the whole is never wrong
		}
	}
	if !fresh || p.c.Thread != NoThread || p.before.Account.StaysCached(p.terms, p.request(p.unchanged())) {
		return
	}
	for i := range p.texts {
		if p.was(i) != Pruned {
			p.send(i, Whole, bill.Size{})
			delete(p.texts, i)
		}
	}
}

// isResult reports whether a message is a tool result that can be cut.
func (c *Conversation) isResult(i int) bool {
	return i >= 0 && i < len(c.Messages) && c.Messages[i].Role == Tool && c.Messages[i].content.end > 0
}

// slide masks everything that has left the window.
func (p *Plan) slide() {
	p.forgetMasks()
	kept := p.results.lastOfEachTool(p.c, p.in.Masking.KeepLastKPerTool, p.results.turns)
	p.maskAll(func(i int) bool { return p.isOld(i, p.results.turns-p.in.Masking.WindowTurns, kept) })
}

// maskAll masks these results, except kept errors and what is already masked.
func (p *Plan) maskAll(may func(message int) bool) {
	var old []int
	for i := range p.c.Messages {
		if may(i) {
			old = append(old, i)
		}
	}
	p.each(old, func(i int) {
		if !p.isKeptError(i) && !p.isPlaceholder(i, p.toolName(i)) {
			p.kinds[i] = Masked
		}
	})
	p.unmaskReferred()
}

// step masks everything before a boundary that moves several turns at a time. Results kept per tool
// are chosen by the turns at the time of the move.
func (p *Plan) step() {
	p.forgetMasks()
	s := p.in.Masking
	edge := p.results.turns - s.WindowTurns
	edge -= edge % max(1, s.StepTurns)
	kept := p.results.lastOfEachTool(p.c, s.KeepLastKPerTool, edge+s.WindowTurns)
	p.maskAll(func(i int) bool { return p.isOld(i, edge, kept) && p.results.isAsked(i) && p.saves(i) > 0 })
}

func (p *Plan) forgetMasks() {
	for i, kind := range p.kinds {
		if kind == Masked {
			p.kinds[i] = Whole
		}
	}
}

// isPlaceholder reports whether a client has sent back our placeholder of a result.
func (p *Plan) isPlaceholder(i int, tool string) bool {
	m := &p.c.Messages[i]
	return m.Chars <= maxPlaceholder && p.template.made(p.text(i), m.CallID, tool)
}

// price masks when that pays off.
func (p *Plan) price() {
	// A refused rewrite must be paid for first.
	if p.before.Off || p.metInTheMiddle() || p.forms.isRefused() {
		return
	}
	s := p.in.Masking
	kept := p.results.lastOfEachTool(p.c, s.KeepLastKPerTool, p.results.turns)
	req := p.request(p.forms.sent)
	old := false
	for i := range p.c.Messages {
		if p.kinds[i] == Masked || !p.isOld(i, p.results.turns-s.WindowTurns, kept) || !p.results.isAsked(i) {
			continue
		}
		piece := p.piece(&req, i)
		// Like p.saves(i), with the first term known.
		piece.Saves = max(0, piece.Size.Tokens-p.size(i, Masked).Tokens)
		piece.Passed = p.results.assistants - int(p.results.of[i].answers)
		old = old || piece.Saves > 0
	}
	// errors, which are kept, would not make it pay.
	if !old || p.choose(req).From == len(req.Pieces) {
		if p.unchanged() == p.forms.sent {
			p.goesOut = &req
		}
		return
	}
	var saving []int
	for i := range p.c.Messages {
		if p.piece(&req, i).Saves > 0 {
			saving = append(saving, i)
		}
	}
	p.each(saving, func(i int) {
		if p.isKeptError(i) || p.isPlaceholder(i, p.toolName(i)) || holdsRules(p.text(i)) {
			p.piece(&req, i).Saves = 0
		}
	})
	event := p.choose(req)
	for i := range p.c.Messages {
		if p.firstPiece[i] >= event.From && p.piece(&req, i).Saves > 0 {
			p.kinds[i] = Masked
		}
	}
	p.Claim = event.Claim
}

// metInTheMiddle reports whether an unknown conversation may be in a cache. It was then sent whole,
// and stays so.
func (p *Plan) metInTheMiddle() bool {
	rates := p.terms.With(p.marks).Rates
	isCached := !rates.Known() || rates.Read < rates.Write
	return isCached && p.cold == bill.MayBeWarm && p.in.Record == nil && p.in.Sibling == nil
}

func (p *Plan) choose(req bill.Request) bill.Event {
	s := p.in.Masking
	loss := s.MaxLoss
	if p.results.turns >= longTurns {
		loss = max(loss, s.LongMaxLoss)
	}
	return p.before.Account.Choose(bill.Choice{
		Terms: p.terms, MaxLoss: loss, Horizon: horizon * float64(p.results.turns),
		Request: req, Cold: p.cold, Claims: p.in.Claims,
	})
}

const (
	// horizon is how many tool turns are expected to follow for each past one. Recorded agent runs
	// have about as many ahead as behind.
	horizon = 1
	// longTurns is the number of tool turns from which long_max_loss applies.
	longTurns = 50
)

// isOld reports whether a result's turn is before the edge and was answered. The result must not be
// kept for its size or its tool, nor for another result that refers to it. The window strategies leave lists of parts alone.
func (p *Plan) isOld(i, edge int, kept map[string]bool) bool {
	asked, m := p.results.answer(p.results.of[i].last), &p.c.Messages[i]
	return asked != nil && asked.turn < edge && i < p.results.lastAssistant && i >= p.summarized && p.c.isResult(i) && !p.pinned[i] &&
		m.Chars >= p.in.Masking.MinChars && !kept[m.CallID] && !p.isSpared(asked.name) && (!m.listed || p.in.Masking.Strategy == Priced)
}

// isSpared reports whether results of a tool are never masked. The window strategies spare only
// Anthropic's memory.
func (p *Plan) isSpared(tool string) bool {
	if p.in.Masking.Strategy == Priced {
		return isSparedTool(tool)
	}
	return p.c.Format == Messages && tool == "memory"
}

// isKeptError checks an already masked result only once, because its text is the same.
func (p *Plan) isKeptError(i int) bool {
	if !p.in.Masking.KeepErrors || p.before.Judged && p.was(i) == Masked {
		return false
	}
	return p.c.Messages[i].IsError || looksLikeError(p.text(i))
}

// toolName returns the name in a placeholder.
func (p *Plan) toolName(i int) string {
	if p.in.Masking.Strategy == Sliding {
		return p.results.name(i)
	}
	return p.results.sinceName(i) // later turns cannot change it
}

// saves returns how many tokens masking a result removes.
func (p *Plan) saves(i int) float64 { return p.size(i, p.kinds[i]).Tokens - p.size(i, Masked).Tokens }
