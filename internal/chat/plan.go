package chat

import (
	"strings"

	"secateur/internal/bill"
	"secateur/internal/rawjson"
)

// Plan says how a conversation goes out.
type Plan struct {
	Cuts  []Cut  // the results that do not go out whole, in the order of the messages
	Model string // what the provider calls the model; "": as the client does

	in       Input
	c        *Conversation
	results  results
	template placeholder
	rates    bill.Rates
	before   Record         // what the record said, if there was one
	sent     int            // messages that the provider should have in its cache
	again    bool           // the request was only made because something had been cut
	known    []string       // of each message that the record knows, the id if it was cut
	kinds    []Kind         // of each message
	asSent   []Kind         // the same, as the record has it
	short    []int          // characters of each message when masked, as far as they were asked for; 0: not yet
	goesOut  *bill.Request  // the sizes of what was decided; nil: not known yet
	texts    map[int]string // what results were pruned to
	decoded  []string       // what results say, as far as it was asked for
}

// Cut is a result that does not go out whole.
type Cut struct {
	Message int
	Kind    Kind
	ID      string // of its original
	New     bool   // it went out otherwise before, or not at all
	Text    string // what stands for it
	Told    bool   // Text tells the ID
}

// makeCuts writes down what was decided.
func (p *Plan) makeCuts() {
	n := 0
	for _, kind := range p.kinds {
		if kind != Whole {
			n++
		}
	}
	if n == 0 {
		return
	}
	p.Cuts = make([]Cut, 0, n)
	ends := make([]int, 0, n)       // in texts
	texts := make([]byte, 0, 128*n) // of all placeholders
	for i, kind := range p.kinds {
		if kind == Whole {
			continue
		}
		m := &p.c.Messages[i]
		cut := Cut{Message: i, Kind: kind, New: p.was(i) != kind, Text: p.texts[i]}
		if i < len(p.known) {
			cut.ID = p.known[i]
		}
		if cut.ID == "" && p.in.ID != nil {
			cut.ID = p.in.ID(p.text(i))
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

// was is how a message went out before.
func (p *Plan) was(message int) Kind {
	if message >= len(p.asSent) {
		return Whole
	}
	return p.asSent[message]
}

// Original is the text that a cut took out.
func (p *Plan) Original(cut Cut) string { return p.text(cut.Message) }

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

// Keep leaves a message whole: its original could not be kept.
func (p *Plan) Keep(message int) {
	for i := range p.Cuts {
		if p.Cuts[i].Message == message {
			p.Cuts = append(p.Cuts[:i], p.Cuts[i+1:]...)
			p.kinds[message], p.goesOut = Whole, nil
			return
		}
	}
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
	saved := 0.0
	for _, c := range p.Cuts {
		saved += p.size(c.Message, Whole) - p.size(c.Message, c.Kind)
	}
	if s := p.before.Account.Scale; s > 0 {
		saved *= s
	}
	return max(0, int(saved))
}

// BillRatio is what the conversation has cost so far, this request included, over what it would
// have cost to pass everything through.
func (p *Plan) BillRatio() float64 {
	r := p.Record(nil)
	return r.Account.Ratio()
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

// unchanged is how many messages go out just as the record says they did.
func (p *Plan) unchanged() int {
	for i := range p.sent {
		if p.kinds[i] != p.was(i) {
			return i
		}
	}
	return p.sent
}

// Record is what is to be kept under the conversation's key when the plan has gone
// out; usage is nil where the provider's counts are not known yet, or never.
func (p *Plan) Record(usage *bill.Usage) Record {
	r := Record{
		Messages: len(p.c.Messages), Time: p.in.Now, Model: p.c.modelKey(), Tools: p.c.tools,
		Refetch: p.before.Refetch, Off: p.before.Off, Judged: p.in.Masking.KeepErrors,
	}
	if len(p.Cuts) > 0 {
		r.Cuts = make([]Sent, 0, len(p.Cuts))
	}
	for _, cut := range p.Cuts {
		r.Cuts = append(r.Cuts, Sent{cut.Message, cut.Kind, cut.ID})
		if cut.Kind == Masked && !cut.New && !p.before.Judged {
			r.Judged = false // it was masked before, and nobody knows by which rules
		}
	}
	if p.goesOut == nil {
		req := p.request(p.unchanged())
		p.goesOut = &req
	}
	if usage == nil {
		r.Account = p.before.Account.Estimate(p.rates, *p.goesOut)
	} else {
		r.Account = p.before.Account.Settle(p.rates, *p.goesOut, *usage)
	}
	// Booked amounts of one request are rough; what lost more than that goes on losing.
	const rough = 0.02
	if len(r.Cuts) > 0 && r.Account.Spent > (1+p.in.Masking.MaxLoss+rough)*r.Account.Through {
		r.Off = true
	}
	return r
}
