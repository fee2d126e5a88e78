package excerpt

// Classes of bytes.
const (
	other byte = iota
	digit
	lower
	upper
	wide // a byte of a character that is not ASCII
)

var classes = func() (c [256]byte) {
	for b := range c {
		switch {
		case '0' <= b && b <= '9':
			c[b] = digit
		case 'a' <= b && b <= 'z' || b == '_':
			c[b] = lower
		case 'A' <= b && b <= 'Z':
			c[b] = upper
		case b >= 0x80:
			c[b] = wide
		}
	}
	return c
}()

// nextWord finds the next word from i on; start is the text's length where there is none. The escapes of JSON end a word, and those of
// characters are one.
func nextWord(text string, i int) (start, end int) {
	for i < len(text) {
		switch c := text[i]; {
		case classes[c] != other:
			return i, wordEnd(text, i)
		case c != '\\':
			i++
		case i+6 <= len(text) && text[i+1] == 'u':
			return i, i + 6
		default:
			i += 2
		}
	}
	return len(text), len(text)
}

// wordEnd is where the word ends that begins at i: a number with its decimals, an identifier, or one character of a script without spaces.
func wordEnd(text string, i int) int {
	first := classes[text[i]]
	if first == wide && isIdeograph(text[i]) {
		return min(i+3, len(text))
	}
	isNumber := first == digit
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case classes[c] == digit:
		case classes[c] != other && !isIdeograph(c):
			isNumber = false
		case isNumber && (c == '.' || c == ',') && i+1 < len(text) && classes[text[i+1]] == digit:
		default:
			return i
		}
	}
	return i
}

// isIdeograph knows the first byte of the characters U+3000 to U+9FFF.
func isIdeograph(c byte) bool { return 0xe3 <= c && c <= 0xe9 }

const (
	hashBasis = 14695981039346656037
	hashPrime = 1099511628211
)

// hashOf names a word, whatever its case and whether it is a plural.
func hashOf(word string) uint64 {
	h := uint64(hashBasis)
	if n := len(word); n > 4 && word[n-1]|0x20 == 's' {
		word = word[:n-1]
	}
	for i := range len(word) {
		c := word[i]
		if classes[c] == upper {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * hashPrime
	}
	return h
}

// weightOf is how much a word may say: numbers, names and long words say more than short ones.
func weightOf(word string) float32 {
	n := len(word)
	switch classes[word[0]] {
	case digit:
		if n >= 3 {
			return 1.2
		}
		return .2
	case wide, other: // a character of another script, maybe escaped
		return .3
	}
	if n < 3 {
		return .1
	}
	for i := 1; i < n; i++ {
		if classes[word[i]] == digit || word[i] == '_' {
			return 1.2
		}
	}
	switch {
	case n <= longestStop && isStop(word):
		return 0
	case classes[word[0]] == upper:
		return 1
	case n >= 6:
		return .6
	}
	return .3
}

const longestStop = 7

// isStop knows the words that say nothing by themselves, with or without a capital.
func isStop(word string) bool {
	var b [longestStop]byte
	n := copy(b[:], word)
	b[0] |= 0x20
	switch string(b[:n]) {
	case "the", "and", "but", "then", "else", "when", "while", "for", "from", "with", "without", "into", "over", "under", "are", "was", "were",
		"been", "being", "its", "this", "that", "these", "those", "not", "than", "can", "could", "should", "would", "will", "may", "might", "must",
		"does", "did", "has", "have", "had", "you", "she", "they", "them", "their", "our", "your", "what", "which", "who", "why", "how", "where",
		"there", "here", "all", "any", "each", "more", "most", "other", "some", "such", "only", "please", "help", "find", "get", "make", "using",
		"use", "need", "want", "null", "true", "false", "none":
		return true
	}
	return false
}
