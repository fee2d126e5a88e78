package chat

import (
	"bytes"
	"unsafe"

	"secateur/internal/bill"
	"secateur/internal/tokens"
)

// Sizes are estimated in tokens; the account learns what the provider counts instead.

const (
	// sampled is how much of a long text is looked at, in so many places: how dense it is
	// tells how many tokens it has.
	sampled, samples = 1024, 4
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
func sizeOf(text string, kind tokens.Kind) bill.Size { return measured(text, kind).of() }

func measured(text string, kind tokens.Kind) size {
	m := tokens.Size(text, kind)
	return size{float32(m.Tokens), float32(m.Digits), float32(m.Signs), float32(m.Others), float32(m.Bytes)}
}

// idSize is about how large so many characters of ids and names are.
func idSize(chars int) size {
	n := float32(chars)
	return size{n / 3.5, n / 5, n / 6, 0, n}
}

// estimate is about how large the text of a raw JSON string is; the longer it is the less exactly.
func estimate(raw []byte, kind tokens.Kind) size {
	var text [2 * sampled]byte
	if len(raw) <= len(text) {
		return measured(unsafeString(plain(text[:0], raw)), kind)
	}
	const each = sampled / samples
	all := text[:0] // together: to estimate one text of so many pieces costs less than so many texts
	for i := range samples {
		at := i * (len(raw) - each) / (samples - 1)
		all = plain(all, raw[at:at+each])
	}
	return measured(unsafeString(all), kind).times(float32(len(raw)) / sampled)
}

// unsafeString is a text without a copy: the bytes are not written to while it is in use.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// plain appends what a piece of a raw JSON string says, as far as that matters for its tokens.
func plain(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'n', 'r':
			c = '\n'
		case 't', 'b', 'f':
			c = '\t'
		case 'u':
			raw = raw[min(len("0000"), len(raw)):]
			c = 0xc3
		}
		dst = append(dst, c)
	}
}

// kindOf is the kind of text that a message with a role mostly has.
func kindOf(r Role) tokens.Kind {
	if r == Tool {
		return tokens.Code
	}
	return tokens.Prose
}

// size is how large a message is as it goes out.
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
	return m.size.of()
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
