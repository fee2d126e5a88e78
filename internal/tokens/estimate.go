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

func (k Kind) weights() *[States]float32 {
	if k < 0 || k >= kinds {
		k = Prose
	}
	return &weights[k]
}

// maxPart is how much is counted at a time, so that no count overflows.
const maxPart = 1 << 30

// Profile says how often each state is visited. It is what the weights are fitted on. Both halves of a long text are walked at
// once, since a walk mostly waits for its own last step; the one word that may straddle the middle makes no difference.
func Profile(text string) (visits [States]uint32) {
	const short = 256
	var count [room]uint32
	if len(text) >= short {
		half := len(text) / 2
		a, b := text[:half], text[half:2*half]
		s, t := uint8(start), uint8(start)
		for i := range len(a) {
			s = next[s%room][classOf[a[i]]%classRoom]
			t = next[t%room][classOf[b[i]]%classRoom]
			count[s%room]++
			count[t%room]++
		}
		text = text[2*half:]
	}
	s := uint8(start)
	for i := range len(text) {
		s = next[s%room][classOf[text[i]]%classRoom]
		count[s%room]++
	}
	copy(visits[:], count[:])
	return visits
}
