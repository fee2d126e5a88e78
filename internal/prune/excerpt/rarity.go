package excerpt

import "math"

// lexicon has the words of a text in order, each with how often the text has it: those that it has once weigh most.
type lexicon struct {
	slots []slot // a power of two of them
	words []word // by number
	order []int32
	goal  wanted

	next int // in order: what is rated next
}

type slot struct {
	hash uint64
	word int32 // its number plus 1; 0: free
}

// word is a distinct word of the text.
type word struct {
	hash   uint64
	count  uint32
	weight float32
	goal   float32 // what it is worth to the goal, were it alone in its part
	seen   bool
}

func newLexicon(goal wanted) *lexicon { return &lexicon{slots: make([]slot, 1<<12), goal: goal} }

// add takes in the words of the next part of the text, and returns how many there are in all.
func (l *lexicon) add(part string) int {
	for i, end := nextWord(part, 0); i < len(part); i, end = nextWord(part, end) {
		text := part[i:end]
		hash := hashOf(text)
		s := l.find(hash)
		if s.word == 0 {
			w := word{hash: hash, weight: weightOf(text)}
			if len(l.goal) > 0 {
				w.goal = l.goal.of(text)
			}
			l.words = append(l.words, w)
			s.hash, s.word = hash, int32(len(l.words)) //nolint:gosec // far fewer than bytes of a message
			if 2*len(l.words) > len(l.slots) {
				l.grow()
			}
			l.order = append(l.order, int32(len(l.words)-1)) //nolint:gosec // as above
			l.words[len(l.words)-1].count++
			continue
		}
		l.words[s.word-1].count++
		l.order = append(l.order, s.word-1)
	}
	return len(l.order)
}

// find is the slot of a word, or the free one that it would take.
func (l *lexicon) find(hash uint64) *slot {
	mask := uint64(len(l.slots) - 1) //nolint:gosec // there are some
	for i := (hash ^ hash>>32) & mask; ; i = (i + 1) & mask {
		if s := &l.slots[i]; s.hash == hash && s.word != 0 || s.word == 0 {
			return s
		}
	}
}

func (l *lexicon) grow() {
	l.slots = make([]slot, 4*len(l.slots))
	for i := range l.words {
		*l.find(l.words[i].hash) = slot{l.words[i].hash, int32(i + 1)}
	}
}

// rate is how much the next words say, up to a number of them that add has returned, and how much of the goal they are in a text of so
// many parts. Where a word comes first, it says more than where it comes again.
func (l *lexicon) rate(until, parts int) (said, goal float32) {
	for ; l.next < until; l.next++ {
		w := &l.words[l.order[l.next]]
		if w.goal > 0 {
			goal += w.goal * rareness(int(w.count), parts)
		}
		if w.seen {
			said += w.weight * shareOf(&againShares, w.count)
			continue
		}
		w.seen = true
		said += w.weight * shareOf(&firstShares, w.count)
	}
	return said, goal
}

// What is left of a word's weight that the text has so many times, where it comes first and where it comes again.
var (
	firstShares = powers(-.5)
	againShares = powers(-2)
)

const counted = 32

func powers(exponent float64) (p [counted]float32) {
	for n := 1; n < counted; n++ {
		p[n] = float32(math.Pow(float64(n), exponent))
	}
	p[0] = 1
	return p
}

func shareOf(shares *[counted]float32, n uint32) float32 { return shares[min(n, counted-1)] }
