package tokens

// Kind is the kind of content. The same bytes make more tokens in some kinds than in others.
type Kind int

// The kinds of content.
const (
	Prose Kind = iota // documentation, chat
	Code
	Logs
	JSON
	kinds
)

// Estimate returns the approximate number of tokens. The empty text has none, any other text at
// least one. It does not allocate.
func Estimate(text string, kind Kind) int {
	return Size(text, kind).Tokens
}

// known returns the kind, or Prose if it is invalid.
func (k Kind) known() Kind {
	if k < 0 || k >= kinds {
		return Prose
	}
	return k
}

// Profile counts the visits to each state. The weights are fitted to these counts.
func Profile(text string) (visits [States]uint32) {
	s := uint8(start)
	for i := range len(text) {
		s = next[s][classOf[text[i]]]
		visits[s]++
	}
	return visits
}
