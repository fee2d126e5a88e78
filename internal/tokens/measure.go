package tokens

// Measure is what tokenizers make different things of, beside how many tokens there are for one of them.
type Measure struct {
	Tokens int // as Estimate has it
	Digits int
	Signs  int // characters that are no letters, digits or spaces
	Others int // bytes of what is not ASCII
	Bytes  int
}

// Size measures a text, in the one pass that an estimate takes.
func Size(text string, kind Kind) (m Measure) {
	m.Bytes = len(text)
	sum := 0.0
	w := kind.weights()
	for len(text) > 0 {
		part := text[:min(len(text), maxPart)]
		text = text[len(part):]
		visits := Profile(part)
		for s, n := range visits {
			sum += float64(float64(w[s]) * float64(n)) // rounded by itself, so that the estimate is the same on every machine
			switch {
			case s >= digit1 && s <= digit3:
				m.Digits += int(n)
			case s >= sign1 && s <= sameLast, s >= tab1 && s <= line2, s == control:
				m.Signs += int(n)
			case s >= latin && s <= rest:
				m.Others += int(n)
			}
		}
	}
	if m.Bytes > 0 {
		m.Tokens = max(1, int(sum+.5))
	}
	return m
}
