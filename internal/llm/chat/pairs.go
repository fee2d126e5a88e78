package chat

import (
	"secateur/internal/llm/bill"
	"secateur/internal/llm/bpe"
	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// Our estimates know how a text is spelled, but not which of its words a vocabulary has. Of two
// similar files one may have a tenth more tokens. A real byte pair encoding knows that, and those
// of other models resemble it more than our estimates do. It takes twenty times as long. So it
// counts only two things, after the response: what was added since the last count, from which we
// learn how the provider counts, and what was removed.

const (
	// newPairs limits the bytes of new texts, and of results masked at once, that are counted. A
	// request with more is usually of a conversation not seen before.
	newPairs = 128 << 10
	// longPairs is how much of a text is counted, in placesPairs samples.
	longPairs, placesPairs = 128 << 10, 16
)

// countPairs counts the new pieces of a request, and removed text that was never counted.
func (p *Plan) countPairs(req *bill.Request) {
	first := len(p.c.Messages)
	for known := p.before.Account.Last.Pieces; first > 0 && p.firstPiece[first-1] >= known; first-- {
	}
	isShort, isFew := p.newBytes(first) <= newPairs, p.maskedBytes() <= newPairs
	for i := range p.c.Messages {
		kind, was := p.kinds[i], p.was(i)
		isNew, isCut := i >= first && isShort, false
		switch kind {
		case Pruned:
			isCut = was != Pruned || p.forms.of[i].Removed.Pairs == 0
		case Masked:
			isCut = was == Pruned || p.isMaskedNow(i) && isFew
		}
		if !isNew && !isCut {
			continue
		}
		piece := p.piece(req, i)
		switch kind {
		case Pruned:
			if p.c.Messages[i].Role == Assistant {
				shorter, removed := p.c.argumentPairs(i, p.texts[i])
				piece.Size.Pairs = p.c.pairs(i) - shorter
				if isCut {
					piece.Removed.Pairs = removed
				}
				break
			}
			piece.Size.Pairs = pairsOf(p.texts[i])
		case Whole:
			piece.Size.Pairs = p.c.pairs(i)
		}
		if isCut && p.c.isResult(i) {
			piece.Removed.Pairs = pairsOf(p.c.Text(i)) - piece.Size.Pairs
		}
		if isCut && was == kind && !p.isRefused(i) {
			piece.Was.Pairs = piece.Removed.Pairs
		}
	}
}

// isMaskedNow reports whether a result is masked that no answered request had masked or pruned.
func (p *Plan) isMaskedNow(i int) bool {
	return p.kinds[i] == Masked && (p.was(i) == Whole || p.isRefused(i))
}

// maskedBytes returns the bytes of results that are masked now and were sent whole, or never.
func (p *Plan) maskedBytes() (n int) {
	for i := range p.kinds {
		if p.isMaskedNow(i) {
			n += p.c.Messages[i].content.end - p.c.Messages[i].content.start
		}
	}
	return n
}

// newBytes returns the bytes of texts in the messages from first on.
func (p *Plan) newBytes(first int) (n int) {
	for i := first; i < len(p.c.Messages); i++ {
		m := &p.c.Messages[i]
		n += max(m.content.end-m.content.start, m.text.end-m.text.start)
		for _, c := range m.Calls {
			n += c.arguments.end - c.arguments.start
		}
	}
	return n
}

// pairs returns those of a message's text and of its calls.
func (c *Conversation) pairs(i int) (n float64) {
	m := &c.Messages[i]
	at, kind := m.content, kindOf(m.Role)
	if at.end == 0 {
		at, kind = m.text, tokens.Prose
	}
	if at.end > 0 {
		raw := c.bytes(at)
		n = float64(bpe.Count(rawjson.Unquote(raw))) - float64(estimate(raw, kind).tokens)
	}
	for _, call := range m.Calls {
		if call.arguments.end == 0 {
			continue
		}
		n += callPairs(c.bytes(call.arguments))
	}
	return n
}

// callPairs returns those of a call's arguments.
func callPairs(raw []byte) float64 {
	said := unsafeString(raw)
	if raw[0] == '"' {
		said = rawjson.Unquote(raw)
	}
	return float64(bpe.Count(said)) - float64(idSize(len(raw)).tokens)
}

// argumentPairs returns those that a cut removes from the calls of a message: by the measure of
// argumentsShorter, and of argumentsRemoved.
func (c *Conversation) argumentPairs(i int, sent string) (shorter, removed float64) {
	for call, doc := range c.sentArguments(i, sent) {
		was, _ := c.document(call)
		shorter += callPairs(c.bytes(call.arguments)) - callPairs(c.appendArguments(nil, call, doc))
		removed += jsonPairs(string(was)) - jsonPairs(doc)
	}
	return shorter, removed
}

func jsonPairs(doc string) float64 {
	return float64(bpe.Count(doc)) - float64(tokens.Estimate(doc, tokens.JSON))
}

// pairsOf returns those of a result's text.
func pairsOf(text string) float64 {
	if len(text) <= longPairs {
		return float64(bpe.Count(text)) - float64(tokens.Estimate(text, tokens.Code))
	}
	const each = longPairs / placesPairs
	n := 0
	for i := range placesPairs {
		at := i * (len(text) - each) / (placesPairs - 1)
		n += bpe.Count(text[at:at+each]) - tokens.Estimate(text[at:at+each], tokens.Code)
	}
	return float64(n) * float64(len(text)) / longPairs
}
