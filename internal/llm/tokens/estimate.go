package tokens

// Kind is the kind of content; the same bytes make more tokens in some kinds than in others.
type Kind int

// The kinds of content.
const (
	Prose Kind = iota // documentation, chat
	Code
	Logs
	JSON
	kinds
)

// Estimate is about how many tokens the text has. The empty text has none, any other at least one. It allocates nothing.
func Estimate(text string, kind Kind) int {
	return Size(text, kind).Tokens
}

// known is the kind, or Prose where it is none.
func (k Kind) known() Kind {
	if k < 0 || k >= kinds {
		return Prose
	}
	return k
}

// Profile says how often each state is visited. It is what the weights are fitted on.
func Profile(text string) (visits [States]uint32) {
	s := uint8(start)
	for i := range len(text) {
		s = next[s][classOf[text[i]]]
		visits[s]++
	}
	return visits
}
