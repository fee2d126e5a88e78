package chat

import (
	"slices"
	"strings"
	"sync"

	"secateur/internal/llm/bill"
	"secateur/internal/rawjson"
)

// Plan says how a conversation is sent.
type Plan struct {
	Cuts []Cut // the results that are not sent whole, in message order
	// The cost of new masks that the account must cover, for the caller to claim; 0: none.
	Claim float64
	Model string // the provider's name of the model; "": the client's

	Barrier Barrier // why nothing more was masked although there was something

	in      Input
	c       *Conversation
	results *results

	summarized int // number of messages that the provider ignores
	template   placeholder
	terms      bill.Terms
	firstPiece []int // first piece of each message in the account's view, then their number
	marks      []bill.Mark
	before     Record        // the earlier record, if any
	forms      forms         // how messages were sent before
	cold       bill.Coldness // of the provider's cache
	pause      float64       // seconds since a request with the same beginning; 0: unknown
	owed       float64       // provider tokens fetched again because they had been cut
	again      bool          // the request was only made because something had been cut
	kinds      []Kind        // of each message
	removed    []bill.Size   // removed from each message; nil: nothing
	// Length of each message's placeholder, computed on demand; 0: not yet.
	short   []int
	going   sync.Mutex     // guards goesOut and paired
	goesOut *bill.Request  // the decided request; nil: not computed yet
	paired  bool           // its pairs were counted
	texts   map[int]string // pruned forms of results
	pinned  map[int]bool   // results that the pruned forms of others refer to
	decoded []string       // texts of results, decoded on demand
}

// Cut is a result that is not sent whole.
type Cut struct {
	Message int
	Kind    Kind
	ID      string // of its original
	New     bool   // it was sent in another form before, or not at all
	Unsure  bool   // it is not New, but may never have been sent: see [Sent]
	Text    string // its replacement
	Told    bool   // Text has the ID
	// It is a message of the model: Text lists the new arguments of its calls.
	Arguments bool
}

// makeCuts builds Cuts from the decisions.
func (p *Plan) makeCuts() {
	n := 0
	var unknown []int // removed size or id not known
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
	ends := make([]int, 0, n)       // offsets in texts
	texts := make([]byte, 0, 128*n) // all placeholders
	for i, kind := range p.kinds {
		if kind == Whole {
			continue
		}
		m := &p.c.Messages[i]
		cut := Cut{Message: i, Kind: kind, New: i >= p.forms.lane || p.was(i) != kind, Text: p.texts[i], ID: p.knownID(i), Arguments: m.Role == Assistant}
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

// name returns the ids of these results, by message, and measures the masked ones.
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

// knownID returns the id of an original that was removed before; "": unknown.
func (p *Plan) knownID(message int) string {
	if message >= len(p.forms.of) {
		return ""
	}
	return p.forms.of[message].ID
}

// send sets the form of a message and how much it lacks.
func (p *Plan) send(message int, as Kind, without bill.Size) {
	p.kinds[message] = as
	if p.removed == nil && without == (bill.Size{}) {
		return
	}
	p.noteRemoved()
	p.removed[message] = without
}

// noteRemoved allocates removed: most requests need none.
func (p *Plan) noteRemoved() {
	if p.removed == nil {
		p.removed = make([]bill.Size, len(p.c.Messages))
	}
}

// removedOf returns how much is removed from a message.
func (p *Plan) removedOf(message int) bill.Size {
	if p.removed == nil {
		return bill.Size{}
	}
	return p.removed[message]
}

// removedBefore returns how much was removed from it when it was last sent.
func (p *Plan) removedBefore(message int) bill.Size {
	if message >= len(p.forms.of) {
		return bill.Size{}
	}
	if p.isRefused(message) {
		return p.forms.of[message].Was
	}
	return p.forms.of[message].Removed
}

// isRefused reports whether the form of a message was sent only in refused requests.
func (p *Plan) isRefused(message int) bool {
	return message < len(p.forms.of) && p.forms.of[message].Refused
}

// was returns how a message was sent before.
func (p *Plan) was(message int) Kind {
	if message >= len(p.forms.of) {
		return Whole
	}
	return p.forms.of[message].Kind
}

// Original returns the text that a cut removed. It may be called concurrently for different cuts.
func (p *Plan) Original(cut Cut) string { return p.text(cut.Message) }

// Forget drops the decoded originals once they are stored. A later call of Original decodes again.
func (p *Plan) Forget() { clear(p.decoded) }

// text returns the text of a result, decoded once.
func (p *Plan) text(message int) string {
	if p.decoded == nil {
		p.decoded = make([]string, len(p.c.Messages))
	}
	if p.decoded[message] == "" {
		p.decoded[message] = p.c.Original(message)
	}
	return p.decoded[message]
}

// Keep restores the earlier form of a message, or the whole: its original could not be stored.
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

// KeepNewMasks undoes the masks that are new in this lane, because the record cannot be stored.
// Pruned bytes are frozen separately.
func (p *Plan) KeepNewMasks() {
	for _, c := range slices.Clone(p.Cuts) {
		if c.New && c.Kind == Masked {
			p.Keep(c.Message)
		}
	}
	p.Claim = 0
}

// Masked counts the masked results.
func (p *Plan) Masked() int {
	n := 0
	for _, c := range p.Cuts {
		if c.Kind == Masked {
			n++
		}
	}
	return n
}

// TokensSaved estimates how many tokens the cuts remove from the request.
func (p *Plan) TokensSaved() int {
	var removed bill.Size
	for _, c := range p.Cuts {
		removed = removed.Plus(p.removedOf(c.Message))
	}
	return max(0, int(p.before.Account.Scale.Count(removed)))
}

// Unclaimed undoes the new masks that have a cost: others have claimed the amount that was to cover
// it.
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

// Size estimates how many bytes Append appends.
func (p *Plan) Size() int {
	n := len(p.c.Body) + len(p.Model)
	for _, cut := range p.Cuts {
		at := p.c.Messages[cut.Message].content
		if cut.Arguments {
			at = span{}
		}
		n += len(cut.Text) + len(cut.Text)/16 + 2 - (at.end - at.start)
	}
	return max(n, 0)
}

// Append appends the request's body: the client's, byte for byte, except for cut contents and for
// the model's name if Model differs.
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
	writeUntil := func(at span) {
		if model.end > 0 && model.start < p.c.list+at.start {
			writeModel()
		}
		dst = append(dst, body[from:p.c.list+at.start]...)
		from = p.c.list + at.end
	}
	for _, cut := range p.Cuts {
		if cut.Arguments {
			for call, doc := range p.c.sentArguments(cut.Message, cut.Text) {
				writeUntil(call.arguments)
				dst = p.c.appendArguments(dst, call, doc)
			}
			continue
		}
		writeUntil(p.c.Messages[cut.Message].content)
		dst = rawjson.AppendQuoted(dst, cut.Text)
	}
	if model.end > 0 {
		writeModel()
	}
	return append(dst, body[from:]...)
}

// unchanged returns how many earlier messages are sent as the provider's cache has them.
func (p *Plan) unchanged() int {
	for i := range p.forms.sent {
		if p.kinds[i] != p.was(i) || p.isRefused(i) {
			return i
		}
	}
	return p.forms.sent
}

// Rewrites reports whether messages are sent in another form than the provider's cache has them.
func (p *Plan) Rewrites() bool { return p.unchanged() < p.forms.sent }

// goes returns the decided request.
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

// Untouched reports whether nothing is cut, and never was. The bill then equals the pass-through
// cost, and nothing has to be measured.
func (p *Plan) Untouched() bool {
	return len(p.Cuts) == 0 && len(p.before.Cuts) == 0 && p.before.Bill.Saved == 0
}

// Record returns what to store under the lane and the conversation's key after sending. usage is
// nil if the provider's counts are not known yet, or never. It may be called concurrently once the
// plan is complete.
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
	r.Bill.Saved -= debt * perToken // passing through would have avoided it
	// The booked amounts of a single request are rough. Cuts keep saving, so a loss may turn into a
	// gain.
	const rough = 0.02
	a := r.Account
	r.Off = len(r.Cuts) > 0 && a.Saved()-a.Owed < -(p.in.Masking.MaxLoss+rough)*a.Through()
	return r
}

// perToken returns the price of an uncached input token in dollars; 1 if unknown.
func (p *Plan) perToken() float64 {
	if p.in.Prices.Input <= 0 {
		return 1
	}
	return p.in.Prices.Input / 1e6
}

// Unbooked returns what to store for a request that was refused or is not answered yet: how it was
// sent, and the cost of everything before.
func (p *Plan) Unbooked() Record {
	r := Record{
		Messages: len(p.c.Messages), Cached: p.forms.sent, Time: p.in.Now, Off: p.before.Off, Judged: p.in.Masking.KeepErrors,
		Account: p.before.Account, Bill: p.before.Bill, Engine: p.in.Engine,
	}
	r.Account.Claimed += p.Claim
	if len(p.before.Cuts) > 0 {
		r.Engine = p.before.Engine // earlier pruned results may have to be recreated
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
			r.Judged = false // it was masked before, by unknown rules
		}
	}
	return r
}

// BilledBefore returns the cost of everything before the request.
func (p *Plan) BilledBefore() Bill { return p.before.Bill }

// Uncounted returns what to store for a request about to be sent whose cost takes long to compute:
// how it is sent, and that the provider's cache may have all of it.
func (p *Plan) Uncounted() Record {
	r := p.Unbooked()
	if p.c.Thread != ThreadContinue {
		r.Cached = r.Messages
	}
	return r
}

// debt returns the cost of fetching results again: writing them, reading them for a while, and the
// request if it was made only for that.
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

// Learned adds what the response has taught about the provider's model to what was known.
func (p *Plan) Learned(usage bill.Usage) bill.Learned {
	if p.c.Thread == ThreadContinue {
		return p.in.Learned // most of the counted prompt was not seen
	}
	return p.before.Account.Teach(p.in.Learned, p.terms, p.goes(), usage)
}

// Taken returns the characters of a cut's original, and estimates how many tokens the cut removes.
func (p *Plan) Taken(c Cut) (chars, tokens int) {
	chars = p.c.Messages[c.Message].Chars
	if c.Arguments {
		chars = rawjson.Chars(p.c.Original(c.Message))
	}
	return chars, max(0, int(p.before.Account.Scale.Count(p.removedOf(c.Message))))
}
