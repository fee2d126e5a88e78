package chat

import (
	"slices"
	"strings"
	"sync"

	"secateur/internal/llm/bill"
	"secateur/internal/rawjson"
)

// Plan says how a conversation goes out.
type Plan struct {
	Cuts  []Cut   // the results that do not go out whole, in the order of the messages
	Claim float64 // what the account has to cover of what is masked now; 0: nothing. It is the caller's to claim
	Model string  // what the provider calls the model; "": as the client does

	Barrier Barrier // why nothing more was masked where there would have been something

	in      Input
	c       *Conversation
	results *results

	summarized int // so many messages the provider does not look at
	template   placeholder
	terms      bill.Terms
	firstPiece []int // of each message, in what the account sees of the conversation, and how many there are
	marks      []bill.Mark
	before     Record         // what the record said, if there was one
	forms      forms          // how messages went out before
	cold       bill.Coldness  // of the provider's cache
	pause      float64        // seconds since a request that began alike; 0: unknown
	owed       float64        // the provider's tokens that came again because they had been cut
	again      bool           // the request was only made because something had been cut
	kinds      []Kind         // of each message
	removed    []bill.Size    // of what is taken out of each message; nil: nothing is
	short      []int          // characters of what stands for each message when masked, as far as they were asked for; 0: not yet
	going      sync.Mutex     // guards goesOut and paired
	goesOut    *bill.Request  // what was decided; nil: not known yet
	paired     bool           // its pairs were counted
	texts      map[int]string // what results were pruned to
	decoded    []string       // what results say, as far as it was asked for
}

// Cut is a result that does not go out whole.
type Cut struct {
	Message int
	Kind    Kind
	ID      string // of its original
	New     bool   // it went out otherwise before, or not at all
	Unsure  bool   // it is not New, but nobody knows whether it ever went out: see [Sent]
	Text    string // what stands for it
	Told    bool   // Text tells the ID
}

// makeCuts writes down what was decided.
func (p *Plan) makeCuts() {
	n := 0
	var unknown []int // of which it is not known what is taken out, or its id
	for i, kind := range p.kinds {
		if kind == Whole {
			p.send(i, Whole, bill.Size{})
			continue
		}
		n++
		if p.was(i) != kind || p.forms.of[i].ID == "" {
			unknown = append(unknown, i)
		}
	}
	if n == 0 {
		return
	}
	if p.decoded == nil {
		p.decoded = make([]string, len(p.c.Messages))
	}
	ids := p.name(unknown)
	p.Cuts = make([]Cut, 0, n)
	ends := make([]int, 0, n)       // in texts
	texts := make([]byte, 0, 128*n) // of all placeholders
	for i, kind := range p.kinds {
		if kind == Whole {
			continue
		}
		m := &p.c.Messages[i]
		cut := Cut{Message: i, Kind: kind, New: i >= p.forms.lane || p.was(i) != kind, Text: p.texts[i], ID: p.knownID(i)}
		cut.Unsure = !cut.New && p.forms.of[i].Unsure
		if cut.ID == "" && ids != nil {
			cut.ID = ids[i]
		}
		if kind == Masked {
			texts = p.template.appendTo(texts, m.CallID, p.toolName(i), m.Chars, cut.ID)
			cut.Told = p.template.tells
		} else {
			cut.Told = strings.Contains(cut.Text, cut.ID)
		}
		p.Cuts = append(p.Cuts, cut)
		ends = append(ends, len(texts))
	}
	all, start := string(texts), 0
	for i, end := range ends {
		if p.Cuts[i].Kind == Masked {
			p.Cuts[i].Text = all[start:end]
		}
		start = end
	}
}

// name gives the ids of what is taken out of these results, by message, and measures what is masked.
func (p *Plan) name(cut []int) (ids []string) {
	if len(cut) == 0 {
		return nil
	}
	ids = make([]string, len(p.c.Messages))
	p.noteRemoved()
	p.each(cut, func(i int) {
		if p.kinds[i] == Masked {
			p.removed[i] = p.takenOut(i, Masked)
		}
		if p.in.ID != nil && p.knownID(i) == "" {
			ids[i] = p.in.ID(p.text(i))
		}
	})
	return ids
}

// knownID is the id of an original that was taken out before; "": it is not known.
func (p *Plan) knownID(message int) string {
	if message >= len(p.forms.of) {
		return ""
	}
	return p.forms.of[message].ID
}

// send has a message go out in a form that lacks so much of it.
func (p *Plan) send(message int, as Kind, without bill.Size) {
	p.kinds[message] = as
	if p.removed == nil && without == (bill.Size{}) {
		return
	}
	p.noteRemoved()
	p.removed[message] = without
}

// noteRemoved makes room for what is taken out of messages: of most requests nothing is.
func (p *Plan) noteRemoved() {
	if p.removed == nil {
		p.removed = make([]bill.Size, len(p.c.Messages))
	}
}

// removedOf is how much is taken out of a message.
func (p *Plan) removedOf(message int) bill.Size {
	if p.removed == nil {
		return bill.Size{}
	}
	return p.removed[message]
}

// removedBefore is how much was taken out of it when it went out before.
func (p *Plan) removedBefore(message int) bill.Size {
	if message >= len(p.forms.of) {
		return bill.Size{}
	}
	if p.isRefused(message) {
		return p.forms.of[message].Was
	}
	return p.forms.of[message].Removed
}

// isRefused tells whether a message went out so in requests alone that the provider refused.
func (p *Plan) isRefused(message int) bool {
	return message < len(p.forms.of) && p.forms.of[message].Refused
}

// was is how a message went out before.
func (p *Plan) was(message int) Kind {
	if message >= len(p.forms.of) {
		return Whole
	}
	return p.forms.of[message].Kind
}

// Original is the text that a cut took out. Those of several cuts may be asked for at once.
func (p *Plan) Original(cut Cut) string { return p.text(cut.Message) }

// Forget lets go of the originals when they are kept: whoever asks for one after all has it decoded again.
func (p *Plan) Forget() { clear(p.decoded) }

// text is what a result says, decoded once.
func (p *Plan) text(message int) string {
	if p.decoded == nil {
		p.decoded = make([]string, len(p.c.Messages))
	}
	if p.decoded[message] == "" {
		p.decoded[message] = p.c.Text(message)
	}
	return p.decoded[message]
}

// Keep leaves a message as it was before, or whole: its original could not be kept.
func (p *Plan) Keep(message int) {
	for i := range p.Cuts {
		if p.Cuts[i].Message != message {
			continue
		}
		p.goesOut = nil
		if text, ok := p.texts[message]; ok && p.Cuts[i].Kind == Masked && p.was(message) == Pruned && !p.forms.of[message].Unsure {
			p.send(message, Pruned, p.forms.of[message].Removed)
			p.Cuts[i].Kind, p.Cuts[i].Text, p.Cuts[i].New = Pruned, text, message >= p.forms.lane
			p.Cuts[i].Told = strings.Contains(text, p.Cuts[i].ID)
			return
		}
		p.send(message, Whole, bill.Size{})
		p.Cuts = append(p.Cuts[:i], p.Cuts[i+1:]...)
		return
	}
}

// New counts the cuts that this lane has not sent before.
func (p *Plan) New() (n int) {
	for _, c := range p.Cuts {
		if c.New {
			n++
		}
	}
	return n
}

// KeepNewMasks leaves out what would be masked for the first time in this lane: what goes out cannot be
// remembered. The bytes of what is pruned are frozen by themselves.
func (p *Plan) KeepNewMasks() {
	for _, c := range slices.Clone(p.Cuts) {
		if c.New && c.Kind == Masked {
			p.Keep(c.Message)
		}
	}
	p.Claim = 0
}

// Masked counts the results that stand masked.
func (p *Plan) Masked() int {
	n := 0
	for _, c := range p.Cuts {
		if c.Kind == Masked {
			n++
		}
	}
	return n
}

// TokensSaved estimates how many tokens the cuts take from the request.
func (p *Plan) TokensSaved() int {
	var removed bill.Size
	for _, c := range p.Cuts {
		removed = removed.Plus(p.removedOf(c.Message))
	}
	return max(0, int(p.before.Account.Scale.Count(removed)))
}

// Unclaimed takes back what was to be masked now at a cost: others have claimed what was to
// cover it.
func (p *Plan) Unclaimed() {
	if p.Claim == 0 {
		return
	}
	for i := range p.kinds {
		if p.kinds[i] == Masked && p.was(i) != Masked {
			p.send(i, p.was(i), p.removedBefore(i))
		}
	}
	p.Claim, p.Cuts, p.goesOut = 0, nil, nil
	p.makeCuts()
}

// Size is about how many bytes Append appends.
func (p *Plan) Size() int {
	n := len(p.c.Body) + len(p.Model)
	for _, cut := range p.Cuts {
		at := p.c.Messages[cut.Message].content
		n += len(cut.Text) + len(cut.Text)/16 + 2 - (at.end - at.start)
	}
	return max(n, 0)
}

// Append appends the request's body: the client's, byte for byte, but for the
// contents that are cut and the model's name where Model says another.
func (p *Plan) Append(dst []byte) []byte {
	body, from := p.c.Body, 0
	model := p.c.model
	if p.Model == "" || p.Model == p.c.Model {
		model = span{}
	}
	writeModel := func() {
		dst = append(dst, body[from:model.start]...)
		dst = rawjson.AppendQuoted(dst, p.Model)
		from, model = model.end, span{}
	}
	for _, cut := range p.Cuts {
		at := p.c.Messages[cut.Message].content
		at = span{p.c.list + at.start, p.c.list + at.end}
		if model.end > 0 && model.start < at.start {
			writeModel()
		}
		dst = append(dst, body[from:at.start]...)
		dst = rawjson.AppendQuoted(dst, cut.Text)
		from = at.end
	}
	if model.end > 0 {
		writeModel()
	}
	return append(dst, body[from:]...)
}

// unchanged is how many messages that were sent before go out as the provider's cache has them.
func (p *Plan) unchanged() int {
	for i := range p.forms.sent {
		if p.kinds[i] != p.was(i) || p.isRefused(i) {
			return i
		}
	}
	return p.forms.sent
}

// goes is the request as it was decided.
func (p *Plan) goes() bill.Request {
	p.going.Lock()
	defer p.going.Unlock()
	if p.goesOut == nil {
		req := p.request(p.unchanged())
		p.goesOut, p.paired = &req, false
	}
	if !p.paired {
		p.countPairs(p.goesOut)
		p.paired = true
	}
	return *p.goesOut
}

// Untouched tells whether nothing is cut, and never was: the bill is then exactly that of passing through, and nothing has to be
// measured to know it.
func (p *Plan) Untouched() bool {
	return len(p.Cuts) == 0 && len(p.before.Cuts) == 0 && p.before.Bill.Saved == 0
}

// Record is what is to be kept under the lane and the conversation's key when the plan has gone
// out; usage is nil where the provider's counts are not known yet, or never. Once the plan is made up many may ask at once.
func (p *Plan) Record(usage *bill.Usage) Record {
	r := p.Unbooked()
	if p.c.Thread == ThreadContinue {
		r.Bill = r.Bill.plus(p.partBill(usage))
		return r
	}
	r.Cached, r.Time = r.Messages, p.in.Now
	before := r.Account
	req := p.goes()
	if usage == nil {
		r.Account = before.Estimate(p.terms, req)
	} else {
		req = before.Recount(req, *usage)
		r.Account = before.Settle(p.terms, req, *usage)
	}
	for i := range r.Cuts {
		r.Cuts[i].Removed = p.piece(&req, r.Cuts[i].Message).Removed
		r.Cuts[i].Refused, r.Cuts[i].Was = false, bill.Size{}
	}
	perToken := p.perToken()
	r.Bill.Spent += (r.Account.Spent - before.Spent) * perToken
	r.Bill.Saved += (r.Account.Saved() - before.Saved()) * perToken
	debt := p.debt()
	r.Account.Owed += debt
	r.Bill.Saved -= debt * perToken // passing through would have spared it
	// Booked amounts of one request are rough. What was cut goes on to save, so what has lost may win again.
	const rough = 0.02
	a := r.Account
	r.Off = len(r.Cuts) > 0 && a.Saved()-a.Owed < -(p.in.Masking.MaxLoss+rough)*a.Through()
	return r
}

// perToken is the price of an uncached token of input in dollars; 1 where it is not known.
func (p *Plan) perToken() float64 {
	if p.in.Prices.Input <= 0 {
		return 1
	}
	return p.in.Prices.Input / 1e6
}

// Unbooked is what is to be kept of a request that has not been answered, or was refused: how
// it went out, and what everything before it had cost.
func (p *Plan) Unbooked() Record {
	r := Record{
		Messages: len(p.c.Messages), Cached: p.forms.sent, Time: p.in.Now, Off: p.before.Off, Judged: p.in.Masking.KeepErrors,
		Account: p.before.Account, Bill: p.before.Bill, Engine: p.in.Engine,
	}
	r.Account.Claimed += p.Claim
	if len(p.before.Cuts) > 0 {
		r.Engine = p.before.Engine // what was pruned before may have to be made again
	}
	if len(p.Cuts) > 0 {
		r.Cuts = make([]Sent, 0, len(p.Cuts))
	}
	for _, cut := range p.Cuts {
		s := Sent{Message: cut.Message, Kind: cut.Kind, ID: cut.ID, Removed: p.removedOf(cut.Message)}
		if s.Message < p.forms.sent && (p.was(s.Message) != s.Kind || p.isRefused(s.Message)) {
			s.Refused, s.Was, r.Time = true, p.removedBefore(s.Message), p.in.Touched
		}
		r.Cuts = append(r.Cuts, s)
		if cut.Kind == Masked && p.was(cut.Message) == Masked && !p.before.Judged {
			r.Judged = false // it was masked before, and nobody knows by which rules
		}
	}
	return r
}

// BilledBefore is what everything before the request had cost.
func (p *Plan) BilledBefore() Bill { return p.before.Bill }

// Uncounted is what is to be kept of a request that is about to go out, and of which it takes a while to know what it costs: how
// it goes out, and that the provider's cache may have all of it.
func (p *Plan) Uncounted() Record {
	r := p.Unbooked()
	if p.c.Thread != ThreadContinue {
		r.Cached = r.Messages
	}
	return r
}

// debt is what it costs that results were fetched again: to write them, to read them for a while, and
// the request where it was made for that alone.
func (p *Plan) debt() float64 {
	if p.owed == 0 || !p.terms.Known() {
		return 0
	}
	const reads = 5
	terms := p.terms.With(p.marks)
	cost := p.owed * (terms.Write + reads*terms.Read)
	if p.again {
		cost += terms.Read * p.before.Account.Size(p.goes())
	}
	return cost
}

// Learned is what the answer has taught about the provider's model, on top of what was known.
func (p *Plan) Learned(usage bill.Usage) bill.Learned {
	if p.c.Thread == ThreadContinue {
		return p.in.Learned // most of what the provider has counted was not seen
	}
	return p.before.Account.Teach(p.in.Learned, p.terms, p.goes(), usage)
}

// Taken tells how many characters the original of a cut has, and estimates how many tokens the cut takes from the request.
func (p *Plan) Taken(c Cut) (chars, tokens int) {
	return p.c.Messages[c.Message].Chars, max(0, int(p.before.Account.Scale.Count(p.removedOf(c.Message))))
}
