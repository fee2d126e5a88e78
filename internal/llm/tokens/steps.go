package tokens

import "sync"

// steps is the machine with the counts of each step (a transducer). It is indexed by the state and
// the class of the byte. An entry has the next state and the counts in one word. A step is thus one
// memory access and one addition. From the low bits up: the weight in fixed point, so that an
// estimate is the same on every machine; flags for a digit, a sign and a non-ASCII byte; a flag for
// a byte that does not count; the state. Sums of states overflow, which does no harm.
type steps [stepRows * classRoom]step

type step = uint64

const (
	weightBits = 20 // after the binary point
	countBits  = 7

	digitsAt  = weightBits + 8
	signsAt   = digitsAt + countBits
	othersAt  = signsAt + countBits
	skippedAt = othersAt + countBits
	stateAt   = skippedAt + countBits

	stepRows = 128
	rowMask  = (stepRows - 1) * classRoom // mask for a state as an index
	rowShift = stateAt - 5                // classRoom is 1<<5

	// together is how many steps can be summed before a count overflows into the next.
	together = 1<<countBits - lanes
)

// States for quoted text, beside the machine's own: after a backslash, by the state before it, and
// within a numeric escape.
const (
	behindBackslash = States
	inNumber        = 2 * States // the last digit; inNumber+1 is the one before it, …
)

var plainSteps, quotedSteps = everyKind(newPlainSteps), everyKind(newQuotedSteps)

func everyKind(make func(Kind) *steps) (all [kinds]func() *steps) {
	for k := range kinds {
		all[k] = sync.OnceValue(func() *steps { return make(k) })
	}
	return all
}

func newPlainSteps(kind Kind) *steps {
	t := new(steps)
	for s := range States {
		for c := range classes {
			t.set(s, c, stepTo(int(next[s][c]), kind))
		}
	}
	return t
}

// newQuotedSteps has a step for each byte of an escape. The decoded character counts with the
// second byte.
func newQuotedSteps(kind Kind) *steps {
	const skipped = 1 << skippedAt
	t := newPlainSteps(kind)
	for s := range States {
		t.set(s, backslash, skipped|step(behindBackslash+s)<<stateAt)
		for c := range classes {
			as := c
			switch c {
			case feedLetter:
				as = feed
			case tabLetter:
				as = tab
			case codeLetter:
				as = cLatin
			}
			t.set(behindBackslash+s, c, stepTo(int(next[s][as]), kind))
		}
		number := stepTo(latin, kind)&(1<<stateAt-1) | step(inNumber+3)<<stateAt
		t.set(behindBackslash+s, codeLetter, number)
	}
	for c := range classes {
		t.set(inNumber, c, skipped|latin<<stateAt)
		for digit := 1; digit < 4; digit++ {
			t.set(inNumber+digit, c, skipped|step(inNumber+digit-1)<<stateAt)
		}
	}
	return t
}

func (t *steps) set(state int, c class, to step) { t[state*classRoom+int(c)] = to }

// stepTo returns a step to one of the machine's own states.
func stepTo(state int, kind Kind) step {
	to := step(float64(float64(weights[kind][state])*(1<<weightBits))+.5) | step(state)<<stateAt //nolint:gosec // no state is negative
	switch {
	case state >= digit1 && state <= digit3:
		to |= 1 << digitsAt
	case state >= sign1 && state <= sameLast, state >= tab1 && state <= line2, state == control:
		to |= 1 << signsAt
	case state >= latin && state <= rest:
		to |= 1 << othersAt
	}
	return to
}

// lanes is how many parts of a long text are processed at once. A single walk mostly waits for its
// last step. It is limited by the number of registers.
const lanes = 5

const (
	short  = 16 * lanes
	runway = 12 // bytes before a part that determine its first state: few words are longer
)

func (t *steps) measure(text string) Measure {
	var sum sums
	last := step(start)
	rest := text
	if len(text) >= short {
		part := len(text) / lanes
		var before [lanes]step
		for i := 1; i < lanes; i++ {
			before[i] = t.lead(text[i*part-runway : i*part])
		}
		last = t.walkParts(text, part, &before, &sum)
		rest = text[lanes*part:]
	}
	t.walk(rest, last, &sum)
	m := Measure{Digits: sum.digits, Signs: sum.signs, Others: sum.others, Bytes: len(text) - sum.skipped}
	if len(text) > 0 {
		m.Tokens = max(1, int((sum.weight+1<<(weightBits-1))>>weightBits))
	}
	return m
}

// lead returns the last step of a text.
func (t *steps) lead(text string) (last step) {
	for i := range len(text) {
		last = t[last>>rowShift&rowMask|step(classOf[text[i]])]
	}
	return last
}

// walk takes the steps of a text and sums them.
func (t *steps) walk(text string, last step, sum *sums) {
	for len(text) > 0 {
		n := min(len(text), together)
		added := step(0)
		for i := range n {
			last = t[last>>rowShift&rowMask|step(classOf[text[i]])]
			added += last
		}
		sum.add(added)
		text = text[n:]
	}
}

// walkParts is walk for lanes parts of equal length, given the step before each. It returns the
// last step of the last part.
func (t *steps) walkParts(text string, part int, before *[lanes]step, sum *sums) step {
	a, b, c, d, e := text[:part], text[part:2*part], text[2*part:3*part], text[3*part:4*part], text[4*part:5*part]
	v, w, x, y, z := before[0], before[1], before[2], before[3], before[4]
	for i := 0; i < part; {
		end := min(i+together/lanes, part)
		added := step(0)
		// The conditions on len save five bounds checks per round.
		for ; i < end && i < len(a) && i < len(b) && i < len(c) && i < len(d) && i < len(e); i++ {
			v = t[v>>rowShift&rowMask|step(classOf[a[i]])]
			w = t[w>>rowShift&rowMask|step(classOf[b[i]])]
			x = t[x>>rowShift&rowMask|step(classOf[c[i]])]
			y = t[y>>rowShift&rowMask|step(classOf[d[i]])]
			z = t[z>>rowShift&rowMask|step(classOf[e[i]])]
			added += v
			added += w
			added += x
			added += y
			added += z
		}
		sum.add(added)
	}
	return z
}

// sums holds the sums of steps.
type sums struct {
	weight                         uint64
	digits, signs, others, skipped int
}

func (s *sums) add(added step) {
	const mask = 1<<countBits - 1
	s.weight += added & (1<<digitsAt - 1)
	s.digits += int(added >> digitsAt & mask)
	s.signs += int(added >> signsAt & mask)
	s.others += int(added >> othersAt & mask)
	s.skipped += int(added >> skippedAt & mask)
}
