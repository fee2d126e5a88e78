package chat

import (
	"slices"
	"sync"
	"unsafe"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/tokens"
)

// Sizes are estimated in tokens; the account learns what the provider counts instead.

const (
	// sampled is how much of a long text is looked at, in so many places: how dense it is
	// tells how many tokens it has.
	sampled, samples = 2048, 8
	// overhead is how many tokens a message takes beside its texts, and how many bytes.
	overhead, overheadBytes = 4, 14
)

// size is how large a message is, in as little room as that takes.
type size struct{ tokens, digits, signs, others, bytes float32 }

func (s size) of() bill.Size {
	return bill.Size{Tokens: float64(s.tokens), Digits: float64(s.digits), Signs: float64(s.signs), Others: float64(s.others), Bytes: float64(s.bytes)}
}

func (s *size) add(t size) {
	s.tokens, s.digits, s.signs, s.others, s.bytes = s.tokens+t.tokens, s.digits+t.digits, s.signs+t.signs, s.others+t.others, s.bytes+t.bytes
}

func (s size) times(x float32) size {
	return size{s.tokens * x, s.digits * x, s.signs * x, s.others * x, s.bytes * x}
}

// beside is how large a message is without its texts.
var beside = bill.Size{Tokens: overhead, Bytes: overheadBytes}

// sizeOf is how large a text is.
func sizeOf(text string, kind tokens.Kind) bill.Size { return newSize(tokens.Size(text, kind)).of() }

func newSize(m tokens.Measure) size {
	return size{float32(m.Tokens), float32(m.Digits), float32(m.Signs), float32(m.Others), float32(m.Bytes)}
}

// idSize is about how large so many characters of ids and names are.
func idSize(chars int) size {
	n := float32(chars)
	return size{n / 3.5, n / 5, n / 6, 0, n}
}

// estimate is about how large the text of a raw JSON string is; the longer it is the less exactly.
func estimate(raw []byte, kind tokens.Kind) size {
	if len(raw) <= 2*sampled {
		return newSize(tokens.SizeQuoted(unsafeString(raw), kind))
	}
	const each = sampled / samples
	var all [sampled]byte // together: to estimate one text of so many pieces costs less than so many texts
	for i := range samples {
		at := i * (len(raw) - each) / (samples - 1)
		copy(all[i*each:], raw[at:at+each])
	}
	return newSize(tokens.SizeQuoted(unsafeString(all[:]), kind)).times(float32(len(raw)) / sampled)
}

// unsafeString is a text without a copy: the bytes are not written to while it is in use.
func unsafeString(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}

// soon is how long a content is that is measured when it is read. A longer one is measured when its size is asked for, which
// of a conversation that goes out as it came is when the answer has come.
const soon = 512

// sizes are those of contents that were due, by message: as many as were asked for.
type sizes struct {
	mu sync.Mutex // guards the field below
	of []size
}

// first are those of the first messages, as far as they are known.
func (s *sizes) first(messages int) []size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.of[:min(messages, len(s.of))])
}

// measureLater adds the content to the size, or notes that it is due.
func (m *Message) measureLater(r *reader, kind tokens.Kind) {
	if m.content.end-m.content.start <= soon {
		m.size.add(estimate(m.content.of(r.doc), kind))
		return
	}
	m.due = uint8(kind) + 1 //nolint:gosec // one of a few
}

// contentSize is the size of the content where it is due.
func (m *Message) contentSize(list []byte) size {
	if m.due == 0 {
		return size{}
	}
	return estimate(m.content.of(list), tokens.Kind(m.due-1))
}

// whole is how large a message is as the client sent it.
func (c *Conversation) whole(i int) bill.Size {
	if !c.sized {
		c.measure()
	}
	var whole bill.Size
	c.wholeTo(&whole, i)
	return whole
}

// wholeTo writes down how large a message is of which all is measured. A request has hundreds of them: nothing is copied.
func (c *Conversation) wholeTo(to *bill.Size, i int) {
	m, due := &c.Messages[i], &size{}
	if m.due > 0 {
		due = &c.sizes.of[i]
	}
	to.Tokens, to.Digits, to.Signs = float64(m.size.tokens+due.tokens), float64(m.size.digits+due.digits), float64(m.size.signs+due.signs)
	to.Others, to.Bytes = float64(m.size.others+due.others), float64(m.size.bytes+due.bytes)
}

// measure makes the sizes of all messages known. It keeps one processor busy and no more: as a rule the answer has gone on, and is on its way through others.
func (c *Conversation) measure() {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	known := c.sizes.of
	all := append(make([]size, 0, len(c.Messages)), known...)
	for i := len(known); i < len(c.Messages); i++ {
		all = append(all, c.Messages[i].contentSize(c.List()))
	}
	c.sizes.of, c.sized = all, true
}

// Tokens is about how many tokens a provider counts for the conversation as the client sent it.
func (c *Conversation) Tokens() float64 {
	all := float64(c.extra.tokens)
	for i := range c.Messages {
		all += c.whole(i).Tokens
	}
	return all
}

// unmeasured is how many bytes of contents are looked at to measure all but the first messages.
func (c *Conversation) unmeasured(known int) (n int) {
	for i := known; i < len(c.Messages); i++ {
		if m := &c.Messages[i]; m.due > 0 {
			n += min(m.content.end-m.content.start, 2*sampled)
		}
	}
	return n
}

// Unmeasured is how many bytes of contents have to be looked at before it is known what the plan costs.
func (p *Plan) Unmeasured() (n int) {
	if p.c.sized {
		return 0
	}
	return p.c.unmeasured(len(p.c.sizes.first(len(p.c.Messages))))
}

// kindOf is the kind of text that a message with a role mostly has.
func kindOf(r Role) tokens.Kind {
	if r == Tool {
		return tokens.Code
	}
	return tokens.Prose
}

// sizeTo writes down how large a message is as it goes out.
func (p *Plan) sizeTo(to *bill.Size, i int) {
	if p.kinds[i] != Whole {
		*to = p.size(i, p.kinds[i])
		return
	}
	if !p.c.sized {
		p.c.measure()
	}
	p.c.wholeTo(to, i)
}

// size is how large a message is as one of its forms goes out.
func (p *Plan) size(i int, kind Kind) bill.Size {
	m := &p.c.Messages[i]
	switch kind {
	case Pruned:
		return sizeOf(p.texts[i], tokens.Code).Plus(beside).Plus(m.rest.of())
	case Masked:
		if p.short == nil {
			p.short = make([]int, len(p.c.Messages))
		}
		if p.short[i] == 0 {
			p.short[i] = p.template.chars(m.CallID, p.toolName(i), m.Chars)
		}
		return idSize(p.short[i]).of().Plus(beside).Plus(m.rest.of())
	}
	return p.c.whole(i)
}

// takenOut is how much a cut takes out of a result.
func (p *Plan) takenOut(i int, kind Kind) bill.Size {
	switch was := p.was(i); {
	case kind == Whole:
		return bill.Size{}
	case was == kind:
		return p.forms.of[i].Removed
	}
	whole := sizeOf(p.text(i), tokens.Code).Plus(beside).Plus(p.c.Messages[i].rest.of())
	return whole.Less(p.size(i, kind))
}
