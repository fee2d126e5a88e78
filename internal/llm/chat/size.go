package chat

import (
	"slices"
	"sync"
	"unsafe"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// Sizes are estimated in tokens. The account learns how the provider's counts differ.

const (
	// sampled is how much of a long text is examined, in this many samples: their density gives its
	// tokens.
	sampled, samples = 2048, 8
	// overhead is the number of tokens and bytes of a message besides its texts.
	overhead, overheadBytes = 4, 14
)

// size is the size of a message in compact form.
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

// beside is the size of a message without its texts.
var beside = bill.Size{Tokens: overhead, Bytes: overheadBytes}

// sizeOf returns the size of a text.
func sizeOf(text string, kind tokens.Kind) bill.Size { return newSize(tokens.Size(text, kind)).of() }

func newSize(m tokens.Measure) size {
	return size{float32(m.Tokens), float32(m.Digits), float32(m.Signs), float32(m.Others), float32(m.Bytes)}
}

// idSize estimates the size of ids and names with that many characters.
func idSize(chars int) size {
	n := float32(chars)
	return size{n / 3.5, n / 5, n / 6, 0, n}
}

// estimate estimates the size of a raw JSON string's text; less exactly for long ones.
func estimate(raw []byte, kind tokens.Kind) size {
	if len(raw) <= 2*sampled {
		return newSize(tokens.SizeQuoted(unsafeString(raw), kind))
	}
	const each = sampled / samples
	var all [sampled]byte // joined: one estimate costs less than many
	for i := range samples {
		at := i * (len(raw) - each) / (samples - 1)
		copy(all[i*each:], raw[at:at+each])
	}
	return newSize(tokens.SizeQuoted(unsafeString(all[:]), kind)).times(float32(len(raw)) / sampled)
}

// unsafeString converts without a copy. The bytes must not change while it is in use.
func unsafeString(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}

// soon is the maximum length of a content that is measured while reading. A longer one is measured
// on demand. For an unchanged conversation that is after the response.
const soon = 512

// sizes are those of due contents, by message, as far as computed.
type sizes struct {
	mu sync.Mutex // guards the field below
	of []size
}

// first returns those of the first messages, as far as computed.
func (s *sizes) first(messages int) []size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.of[:min(messages, len(s.of))])
}

// measureLater adds the content to the size, or marks it as due.
func (m *Message) measureLater(r *reader, kind tokens.Kind) {
	if m.content.end-m.content.start <= soon {
		m.size.add(estimate(m.content.of(r.doc), kind))
		return
	}
	m.due = uint8(kind) + 1 //nolint:gosec // one of a few
}

// contentSize returns the size of the content if it is due.
func (m *Message) contentSize(list []byte) size {
	if m.due == 0 {
		return size{}
	}
	return estimate(m.content.of(list), tokens.Kind(m.due-1))
}

// whole returns the size of a message as the client sent it.
func (c *Conversation) whole(i int) bill.Size {
	if !c.sized.Load() {
		c.measure()
	}
	var whole bill.Size
	c.wholeTo(&whole, i)
	return whole
}

// wholeTo writes the size of a measured message to to. A request has hundreds of messages, so
// nothing is copied.
func (c *Conversation) wholeTo(to *bill.Size, i int) {
	m, due := &c.Messages[i], &size{}
	if m.due > 0 {
		due = &c.sizes.of[i]
	}
	to.Tokens, to.Digits, to.Signs = float64(m.size.tokens+due.tokens), float64(m.size.digits+due.digits), float64(m.size.signs+due.signs)
	to.Others, to.Bytes = float64(m.size.others+due.others), float64(m.size.bytes+due.bytes)
}

// measure computes the sizes of all messages. It uses one processor only, because the response is
// usually being streamed on the others.
func (c *Conversation) measure() {
	c.sizes.mu.Lock()
	defer c.sizes.mu.Unlock()
	if c.sized.Load() { // by another goroutine
		return
	}
	known := c.sizes.of
	all := append(make([]size, 0, len(c.Messages)), known...)
	for i := len(known); i < len(c.Messages); i++ {
		all = append(all, c.Messages[i].contentSize(c.List()))
	}
	c.sizes.of = all
	c.sized.Store(true)
}

// Tokens estimates a provider's token count for the conversation as the client sent it.
func (c *Conversation) Tokens() float64 {
	all := float64(c.extra.tokens)
	for i := range c.Messages {
		all += c.whole(i).Tokens
	}
	return all
}

// unmeasured returns how many bytes of contents must be examined to measure all but the first
// messages.
func (c *Conversation) unmeasured(known int) (n int) {
	for i := known; i < len(c.Messages); i++ {
		if m := &c.Messages[i]; m.due > 0 {
			n += min(m.content.end-m.content.start, 2*sampled)
		}
	}
	return n
}

// Unmeasured returns how many bytes of contents must be examined before the plan's cost is known.
func (p *Plan) Unmeasured() (n int) {
	if p.c.sized.Load() {
		return 0
	}
	return p.c.unmeasured(len(p.c.sizes.first(len(p.c.Messages))))
}

// kindOf returns the usual kind of text in messages with this role.
func kindOf(r Role) tokens.Kind {
	if r == Tool {
		return tokens.Code
	}
	return tokens.Prose
}

// sizeTo writes the size of a message as sent to to.
func (p *Plan) sizeTo(to *bill.Size, i int) {
	if p.kinds[i] != Whole {
		*to = p.size(i, p.kinds[i])
		return
	}
	if !p.c.sized.Load() {
		p.c.measure()
	}
	p.c.wholeTo(to, i)
}

// size returns the size of a message in one of its forms.
func (p *Plan) size(i int, kind Kind) bill.Size {
	m := &p.c.Messages[i]
	switch kind {
	case Pruned:
		if m.Role == Assistant {
			return p.c.whole(i).Less(p.c.argumentsShorter(i, p.texts[i]))
		}
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

// takenOut returns how much a cut removes from a result.
func (p *Plan) takenOut(i int, kind Kind) bill.Size {
	switch was := p.was(i); {
	case kind == Whole:
		return bill.Size{}
	case was == kind:
		return p.forms.of[i].Removed
	case p.c.Messages[i].Role == Assistant:
		return p.c.argumentsRemoved(i, p.texts[i])
	}
	whole := sizeOf(p.text(i), tokens.Code).Plus(beside).Plus(p.c.Messages[i].rest.of())
	return whole.Less(p.size(i, kind))
}

// argumentsRemoved returns how much a cut removes from the calls of a message.
func (c *Conversation) argumentsRemoved(i int, sent string) (removed bill.Size) {
	for call, doc := range c.sentArguments(i, sent) {
		was, _ := c.document(call)
		removed = removed.Plus(sizeOf(string(was), tokens.JSON).Less(sizeOf(doc, tokens.JSON)))
	}
	return removed
}

// argumentsShorter is the same as the readers of the formats measure calls.
func (c *Conversation) argumentsShorter(i int, sent string) (removed bill.Size) {
	for call, doc := range c.sentArguments(i, sent) {
		was, is := c.bytes(call.arguments), c.appendArguments(nil, call, doc)
		from, to := len(was), len(is)
		if c.Format == Completions {
			from, to = rawjson.CountChars(was), rawjson.CountChars(is)
		}
		removed = removed.Plus(idSize(from).of().Less(idSize(to).of()))
	}
	return removed
}
