package rawjson

// scanNumber checks the number at p, which starts with a digit or a minus. It returns the offset
// just past it.
func scanNumber(b []byte, p int) (int, Fault) {
	if b[p] == '-' {
		p++
	}
	switch {
	case p >= len(b):
		return p, Truncated
	case b[p] == '0':
		p++
	case isDigit(b[p]):
		p = digits(b, p)
	default:
		return p, BadNumber
	}
	if p < len(b) && b[p] == '.' {
		start := p + 1
		if p = digits(b, start); p == start {
			return p, missingDigit(b, p)
		}
	}
	if p < len(b) && (b[p] == 'e' || b[p] == 'E') {
		p++
		if p < len(b) && (b[p] == '+' || b[p] == '-') {
			p++
		}
		start := p
		if p = digits(b, start); p == start {
			return p, missingDigit(b, p)
		}
	}
	return p, 0
}

func digits(b []byte, p int) int {
	for p < len(b) && isDigit(b[p]) {
		p++
	}
	return p
}

func missingDigit(b []byte, p int) Fault {
	if p >= len(b) {
		return Truncated
	}
	return BadNumber
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// scanLiteral checks for word at p and returns the offset just past it.
func scanLiteral(b []byte, p int, word string) (int, Fault) {
	if len(b)-p >= len(word) && string(b[p:p+len(word)]) == word {
		return p + len(word), 0
	}
	for i := range len(word) {
		if p+i >= len(b) {
			return p + i, Truncated
		}
		if b[p+i] != word[i] {
			return p + i, BadLiteral
		}
	}
	return p, BadLiteral
}
