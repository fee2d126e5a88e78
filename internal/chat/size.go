package chat

import (
	"secateur/internal/bill"
	"secateur/internal/tokens"
)

// Sizes are estimated in tokens; the account learns what the provider counts instead.

const (
	// sampled is how much of a long text is looked at, in so many places: how dense it is
	// tells how many tokens it has.
	sampled, samples = 512, 4
	// overhead is what a message takes beside its texts.
	overhead = 4
)

// size is how large a message is, in as little room as that takes.
type size struct{ tokens, digits, signs float32 }

func (s size) of() bill.Size {
	return bill.Size{Tokens: float64(s.tokens), Digits: float64(s.digits), Signs: float64(s.signs)}
}

func (s *size) add(t size) {
	s.tokens, s.digits, s.signs = s.tokens+t.tokens, s.digits+t.digits, s.signs+t.signs
}

// sizeOf is how large a text is.
func sizeOf(text string, kind tokens.Kind) bill.Size {
	digits, signs := countSigns(text)
	return bill.Size{Tokens: float64(tokens.Estimate(text, kind)), Digits: float64(digits), Signs: float64(signs)}
}

// countSigns counts digits, and characters that are no letters, digits or spaces.
func countSigns[text string | []byte](s text) (digits, signs int) {
	for i := range len(s) {
		c := signOf[s[i]]
		digits += int(c & 1)
		signs += int(c >> 1)
	}
	return digits, signs
}

// signOf is 1 for a digit, 2 for what countSigns calls a sign, and else 0.
var signOf = func() (of [256]uint8) {
	for c := range byte(0x80) {
		switch {
		case isDigit(c):
			of[c] = 1
		case !isLetter(c) && c != ' ':
			of[c] = 2
		}
	}
	return of
}()

// idSize is about how large so many characters of ids and names are.
func idSize(chars int) size {
	n := float32(chars)
	return size{n / 3.5, n / 5, n / 6}
}

// estimate is about how large the text of a raw JSON string is; the longer it is the less exactly.
func estimate(raw []byte, kind tokens.Kind) size {
	var text [2 * sampled]byte
	if len(raw) <= len(text) {
		return sampleSize(plain(text[:0], raw), kind)
	}
	const each = sampled / samples
	all := text[:0] // together: to estimate one text of so many pieces costs less than so many texts
	for i := range samples {
		at := i * (len(raw) - each) / (samples - 1)
		all = plain(all, raw[at:at+each])
	}
	found := sampleSize(all, kind)
	times := float32(len(raw)) / sampled
	return size{found.tokens * times, found.digits * times, found.signs * times}
}

func sampleSize(text []byte, kind tokens.Kind) size {
	digits, signs := countSigns(text)
	return size{float32(tokens.Estimate(string(text), kind)), float32(digits), float32(signs)}
}

// plain appends what a piece of a raw JSON string says, as far as that matters for its tokens.
func plain(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+1 < len(raw) {
			i++
			switch c = raw[i]; c {
			case 'n', 'r':
				c = '\n'
			case 't', 'b', 'f':
				c = '\t'
			case 'u':
				i += 4
				c = 0xc3
			}
		}
		dst = append(dst, c)
	}
	return dst
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
		return sizeOf(p.texts[i], tokens.Code).Plus(bill.Size{Tokens: overhead}).Plus(m.rest.of())
	case Masked:
		if p.short == nil {
			p.short = make([]int, len(p.c.Messages))
		}
		if p.short[i] == 0 {
			p.short[i] = p.template.chars(m.CallID, p.toolName(i), m.Chars)
		}
		return idSize(p.short[i]).of().Plus(bill.Size{Tokens: overhead}).Plus(m.rest.of())
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
	whole := sizeOf(p.text(i), tokens.Code).Plus(bill.Size{Tokens: overhead}).Plus(p.c.Messages[i].rest.of())
	return whole.Less(p.size(i, kind))
}
