package prune

import "secateur/internal/llm/tokens"

// shortReason is the reason of a block that is not much larger than its marker.
const shortReason = "hors focus"

// tokenKind returns the kind of content for estimating a source's tokens.
func (s Source) tokenKind() tokens.Kind {
	switch s {
	case Code:
		return tokens.Code
	case Logs:
		return tokens.Logs
	default:
		return tokens.Prose
	}
}

// Tokens estimates how many tokens a text of this kind has.
func (s Source) Tokens(text string) int { return tokens.Estimate(text, s.tokenKind()) }

// worthwhile returns the blocks with more tokens than their markers. A marker that takes half of
// its block gives up its reason.
func (t *text) worthwhile(blocks []Block, marker func(Block) string) []Block {
	if marker == nil {
		return blocks
	}
	const (
		surely = 64 // bytes; no token is longer
		margin = 2  // tokens by which the estimate of a whole may differ from the sum of its parts
	)
	out := blocks[:0]
	for _, b := range blocks {
		body := t.lines.Range(b.Start, b.End)
		line := marker(b) + "\n"
		cost := t.told.Tokens(line)
		if len(body) <= surely*cost {
			worth := t.told.Tokens(body)
			if worth < 2*cost {
				b.Reason = shortReason
				line = marker(b) + "\n"
				cost = t.told.Tokens(line)
			}
			if worth <= cost+margin || len(body) < len(line) {
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// toll returns the approximate cost of a marker, in bytes of the text.
func (t *text) toll(marker func(Block) string) int {
	if marker == nil {
		return 0
	}
	n := t.lines.Len()
	const bytesPerToken = 3
	return bytesPerToken * t.told.Tokens(marker(Block{Start: n / 2, End: n/2 + 9, Reason: shortReason})+"\n")
}
