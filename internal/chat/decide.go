package chat

import (
	"slices"

	"secateur/internal/bill"
	"secateur/internal/rawjson"
)

// Input is all that a decision depends on.
type Input struct {
	Conversation *Conversation
	Masking      Settings
	Pruned       map[int]string // what the results of Jobs were pruned to; a result not in it goes whole
	Record       *Record        // what was sent before; nil: nothing is known
	Prices       bill.Prices    // zero: unknown
	Now          int64          // Unix seconds

	// ID names an original by its text. nil: originals have no ids.
	ID func(text string) string
}

// charsPerToken turns characters into tokens until a provider has counted them.
const charsPerToken = 4.0

// Decide says how the conversation goes out.
func Decide(in Input) *Plan {
	c := in.Conversation
	p := &Plan{in: in, c: c, kinds: make([]Kind, len(c.Messages))}
	p.results = findResults(c)
	p.template = parsePlaceholder(in.Masking)
	p.rates = in.Prices.Rates()
	p.recall()
	p.prune()
	if in.Masking.Enabled && in.Masking.WindowTurns > 0 && p.results.turns > in.Masking.WindowTurns {
		switch in.Masking.Strategy {
		case Sliding:
			p.slide()
		case Stepped:
			p.step()
		case Priced:
			p.price()
		}
	}
	p.makeCuts()
	return p
}

// recall takes over what the record says about the messages it knows.
func (p *Plan) recall() {
	r := p.in.Record
	if r == nil || r.Messages > len(p.c.Messages) {
		p.in.Record = nil
		return
	}
	p.before, p.sent = *r, r.Messages
	p.known = make([]string, r.Messages)
	for _, cut := range r.Cuts {
		if cut.Message >= r.Messages || !p.c.isResult(cut.Message) {
			continue
		}
		p.known[cut.Message] = cut.ID
		p.kinds[cut.Message] = cut.Kind
	}
	p.asSent = slices.Clone(p.kinds[:r.Messages])
	p.refetched()
	idle := p.in.Prices.CacheTTL
	if idle <= 0 {
		idle = defaultTTL
	}
	if p.c.modelKey() != r.Model || p.c.tools != r.Tools || float64(p.in.Now-r.Time) > idle {
		p.sent = 0 // the provider's cache has nothing of it any more
	}
}

// defaultTTL is how long, in seconds, a prompt cache of unknown kind may live.
const defaultTTL = 3600

// refetched finds results that came again because they had been cut: passing through
// would have spared them. One that a recovery has brought was worth a request of its own;
// whether one that says the same as before was, nobody knows.
func (p *Plan) refetched() {
	gone := make(map[digest]bool, len(p.before.Cuts))
	for _, cut := range p.before.Cuts {
		if p.c.isResult(cut.Message) {
			gone[p.c.Messages[cut.Message].said] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	fresh, recovered := 0, 0
	for i := p.sent; i < len(p.c.Messages); i++ {
		m := &p.c.Messages[i]
		if m.Role != Tool {
			continue
		}
		fresh++
		isBack := isRecovery(p.results.of[i].sinceName)
		if isBack {
			recovered++
		}
		if isBack || m.Chars >= worthFetching && gone[m.said] {
			p.before.Refetch += float64(m.size) / charsPerToken
		}
	}
	p.again = recovered > 0 && recovered == fresh
}

// worthFetching is how many characters a result has at least that is fetched
// again for what it says: short ones are often equal by chance.
const worthFetching = 400

// prune takes over what the results that are pruned were pruned to.
func (p *Plan) prune() {
	p.texts = make(map[int]string)
	for i, kind := range p.kinds {
		text, ok := p.in.Pruned[i]
		switch {
		case ok && p.c.isResult(i) && kind != Masked:
			p.kinds[i], p.texts[i] = Pruned, text
		case kind == Pruned:
			p.kinds[i] = Whole // its bytes are lost; to send the whole is never wrong
		}
	}
}

// isResult tells whether a message is a tool's result that can be cut at all.
func (c *Conversation) isResult(i int) bool {
	return i >= 0 && i < len(c.Messages) && c.Messages[i].Role == Tool && c.Messages[i].content.end > 0
}

func (c *Conversation) modelKey() Key {
	d := newDigest()
	d.write([]byte(c.Model))
	return d.sum()
}

// slide masks everything that has left the window.
func (p *Plan) slide() {
	p.forgetMasks()
	kept := p.results.lastOfEachTool(p.c, p.in.Masking.KeepLastKPerTool, p.results.turns)
	for i := range p.c.Messages {
		if p.maskable(i, p.results.turns-p.in.Masking.WindowTurns, kept) &&
			(p.c.Messages[i].Chars > maxPlaceholder || !p.template.made(p.text(i), p.c.Messages[i].CallID, p.results.of[i].name)) {
			p.kinds[i] = Masked
		}
	}
}

// step masks what lies before a boundary that moves so many turns at a time. What is
// kept for its tool's sake is decided by the turns there were when it moved.
func (p *Plan) step() {
	p.forgetMasks()
	s := p.in.Masking
	edge := p.results.turns - s.WindowTurns
	edge -= edge % max(1, s.StepTurns)
	kept := p.results.lastOfEachTool(p.c, s.KeepLastKPerTool, edge+s.WindowTurns)
	for i := range p.c.Messages {
		if p.maskable(i, edge, kept) && p.results.of[i].since >= 0 && p.saves(i) > 0 {
			p.kinds[i] = Masked
		}
	}
}

func (p *Plan) forgetMasks() {
	for i, kind := range p.kinds {
		if kind == Masked {
			p.kinds[i] = Whole
		}
	}
}

// price masks when that pays.
func (p *Plan) price() {
	if p.before.Off {
		return
	}
	s := p.in.Masking
	kept := p.results.lastOfEachTool(p.c, s.KeepLastKPerTool, p.results.turns)
	pieces := make([]bill.Piece, len(p.c.Messages))
	old := false
	for i := range pieces {
		pieces[i].Tokens = p.size(i, p.kinds[i])
		if p.kinds[i] == Masked || !p.isOld(i, p.results.turns-s.WindowTurns, kept) || p.results.of[i].since < 0 {
			continue
		}
		pieces[i].Saves = max(0, p.saves(i))
		pieces[i].Passed = p.results.assistants - p.results.answers[i]
		old = old || pieces[i].Saves > 0
	}
	if !old || p.choose(pieces) == len(pieces) {
		return // errors, which are kept, would not make it pay
	}
	for i := range pieces {
		if pieces[i].Saves > 0 && p.isKeptError(i) {
			pieces[i].Saves = 0
		}
	}
	for i := p.choose(pieces); i < len(pieces); i++ {
		if pieces[i].Saves > 0 {
			p.kinds[i] = Masked
		}
	}
}

func (p *Plan) choose(pieces []bill.Piece) int {
	return p.before.Account.Choose(bill.Choice{
		Rates: p.rates, MaxLoss: p.in.Masking.MaxLoss, Horizon: horizon * float64(p.results.turns),
		Pieces: pieces, Sent: p.sent, Base: p.request(p.sent),
	})
}

// horizon is how many tool turns are expected to follow, for each one there has been. Recorded
// runs of agents have about as many before them as behind them; to count on less loses little
// where it is wrong.
const horizon = 0.4

// maskable tells whether the result of a turn before the edge may be masked.
func (p *Plan) maskable(i, edge int, kept map[string]bool) bool {
	return p.isOld(i, edge, kept) && !p.isKeptError(i)
}

// isOld tells whether a result is of a turn before the edge, was answered, and is not kept
// for its size or for its tool's sake.
func (p *Plan) isOld(i, edge int, kept map[string]bool) bool {
	res, m := &p.results.of[i], &p.c.Messages[i]
	return res.ok && res.turn < edge && i < p.results.lastAssistant && p.c.isResult(i) &&
		m.Chars >= p.in.Masking.MinChars && !kept[m.CallID]
}

// isKeptError judges what was masked before only once: it is the same text.
func (p *Plan) isKeptError(i int) bool {
	if !p.in.Masking.KeepErrors || p.before.Judged && p.was(i) == Masked {
		return false
	}
	return p.c.Messages[i].IsError || looksLikeError(p.text(i))
}

// toolName is the name a placeholder tells.
func (p *Plan) toolName(i int) string {
	if p.in.Masking.Strategy == Sliding {
		return p.results.of[i].name
	}
	return p.results.of[i].sinceName // which later turns cannot change
}

// saves is how many tokens masking a result takes away.
func (p *Plan) saves(i int) float64 { return p.size(i, p.kinds[i]) - p.size(i, Masked) }

// size is how many tokens a message has, as we estimate them.
func (p *Plan) size(i int, kind Kind) float64 {
	m := &p.c.Messages[i]
	chars := m.size
	switch kind {
	case Pruned:
		chars += rawjson.Chars(p.texts[i]) - m.Chars
	case Masked:
		if p.short == nil {
			p.short = make([]int, len(p.c.Messages))
		}
		if p.short[i] == 0 {
			p.short[i] = chars + p.template.chars(m.CallID, p.toolName(i), m.Chars) - m.Chars
		}
		chars = p.short[i]
	}
	return float64(chars) / charsPerToken
}

// request is the size of the request as it stands, when the first messages so many
// go out as they did before.
func (p *Plan) request(same int) bill.Request {
	head := float64(p.c.extra) / charsPerToken
	var r bill.Request
	r.Extra = p.again
	r.Sent.Total, r.Through.Total = head, head
	for i := range p.c.Messages {
		if i == same && same > 0 {
			r.Sent.Cached = r.Sent.Total
		}
		if i == p.sent && p.sent > 0 {
			r.Through.Cached = r.Through.Total
		}
		r.Sent.Total += p.size(i, p.kinds[i])
		r.Through.Total += p.size(i, Whole)
	}
	if same == len(p.c.Messages) {
		r.Sent.Cached = r.Sent.Total
	}
	if p.sent == len(p.c.Messages) {
		r.Through.Cached = r.Through.Total
	}
	r.Through.Total = max(0, r.Through.Total-p.before.Refetch)
	r.Through.Cached = max(0, min(r.Through.Cached-p.before.Refetch, r.Through.Total))
	return r
}
