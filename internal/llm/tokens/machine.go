package tokens

// The states. The letters of a word are told apart by their position. The first few of a word form
// one token; the more follow, the likelier another token begins.
const (
	start    = iota
	word1                   // first letter of a word, lower case or capital
	word2                   // …
	wordLast = word1 + 13   // and every later one
	cap2     = wordLast + 1 // second capital in a row, …
	capLast  = cap2 + 4
	hump1    = capLast + 1 // capital after a small letter: a new part of an identifier
	digit1   = hump1 + 1
	digit2   = digit1 + 1
	digit3   = digit2 + 1
	sign1    = digit3 + 1 // punctuation: first of a run, …
	signLast = sign1 + 3
	same1    = signLast + 1 // the same kind of rule sign again (-, =, *, #, _)
	sameLast = same1 + 1
	space1   = sameLast + 1
	space2   = space1 + 1 // second space in a row, and later ones
	tab1     = space2 + 1
	tab2     = tab1 + 1
	line1    = tab2 + 1 // line feed
	line2    = line1 + 1
	latin    = line2 + 1 // first byte of an accented Latin letter
	greek    = latin + 1
	cyrillic = greek + 1
	semitic  = cyrillic + 1 // Hebrew, Arabic
	indic    = semitic + 1
	symbol   = indic + 1 // punctuation, arrows, box drawing
	kana     = symbol + 1
	han      = kana + 1
	hangul   = han + 1
	private  = hangul + 1 // all others below U+10000
	astral   = private + 1
	rest     = astral + 1 // further bytes of a character
	control  = rest + 1

	// States is the number of states.
	States = control + 1
)

// The tables have power-of-two dimensions, so that no access needs a bounds check.
const (
	room      = 64
	classRoom = 32
)

type class uint8

const (
	small class = iota
	capital
	digit
	sign
	rule
	blank
	tab
	feed
	cLatin
	cGreek
	cCyrillic
	cSemitic
	cIndic
	cSymbol
	cKana
	cHan
	cHangul
	cPrivate
	cAstral
	cRest
	cControl

	// The letters with a meaning after a backslash in a JSON string, and the backslash.
	feedLetter // n, r: small
	tabLetter  // t, b, f: small
	codeLetter // u: small
	backslash  // sign
	classes
)

var classOf = func() (t [256]class) {
	for c := range t {
		switch {
		case c == 'n' || c == 'r':
			t[c] = feedLetter
		case c == 't' || c == 'b' || c == 'f':
			t[c] = tabLetter
		case c == 'u':
			t[c] = codeLetter
		case c == '\\':
			t[c] = backslash
		case c >= 'a' && c <= 'z':
			t[c] = small
		case c >= 'A' && c <= 'Z':
			t[c] = capital
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '-' || c == '=' || c == '*' || c == '#' || c == '_' || c == '.' || c == '/':
			t[c] = rule
		case c == ' ':
			t[c] = blank
		case c == '\t':
			t[c] = tab
		case c == '\n' || c == '\r':
			t[c] = feed
		case c < 0x20 || c == 0x7f:
			t[c] = cControl
		case c < 0x80:
			t[c] = sign
		case c < 0xc0:
			t[c] = cRest
		case c < 0xcb:
			t[c] = cLatin
		case c < 0xd0:
			t[c] = cGreek
		case c < 0xd5:
			t[c] = cCyrillic
		case c < 0xe0:
			t[c] = cSemitic
		case c < 0xe2:
			t[c] = cIndic
		case c == 0xe2:
			t[c] = cSymbol
		case c == 0xe3:
			t[c] = cKana
		case c < 0xea:
			t[c] = cHan
		case c < 0xee:
			t[c] = cHangul
		case c < 0xf0:
			t[c] = cPrivate
		default:
			t[c] = cAstral
		}
	}
	return t
}()

// next is the machine: the state after a byte of a class.
var next = func() (t [room][classRoom]uint8) {
	for s := range States {
		for c := range classes {
			t[s][c] = uint8(after(s, c.plain()))
		}
	}
	return t
}()

// plain returns the class of a byte outside of escapes, where a backslash is an ordinary sign.
func (c class) plain() class {
	switch c {
	case feedLetter, tabLetter, codeLetter:
		return small
	case backslash:
		return sign
	}
	return c
}

func after(s int, c class) int {
	word := s >= word1 && s <= wordLast
	caps := s >= cap2 && s <= capLast
	switch c {
	case small:
		switch {
		case word:
			return min(s+1, wordLast)
		case caps, s == hump1:
			return word2
		case s == latin || s == rest:
			return word1 + 3
		}
		return word1
	case capital:
		switch {
		case s == word1 || s == hump1:
			return cap2
		case word:
			return hump1
		case caps:
			return min(s+1, capLast)
		}
		return word1
	case digit:
		if s == digit1 || s == digit2 {
			return s + 1
		}
		return digit1
	case sign, rule:
		if c == rule && (s == same1 || s == sameLast || s == sign1) {
			return min(max(s+1, same1), sameLast)
		}
		switch {
		case s >= sign1 && s < signLast:
			return s + 1
		case s == signLast || s == same1 || s == sameLast:
			return signLast
		}
		return sign1
	case blank:
		if s == space1 || s == space2 || s == line1 || s == line2 {
			return space2
		}
		return space1
	case tab:
		if s == tab1 || s == tab2 {
			return tab2
		}
		return tab1
	case feed:
		if s == line1 || s == line2 {
			return line2
		}
		return line1
	case cControl:
		return control
	}
	return latin + int(c-cLatin)
}
