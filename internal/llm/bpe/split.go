package bpe

import "unicode/utf8"

// pieceEnd says where the piece that starts at i ends. It is what o200k_base's regular expression matches there:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The first alternative that matches at all is taken, in this order.
func pieceEnd(text string, i int) int {
	c, size := classAt(text, i)
	switch c {
	case digit:
		return digitsEnd(text, i+size)
	case upper, lower, letter, mark:
		// A mark may also be what stands before a word. It comes to the same: the mark is in the word then, as any other in it.
		return wordEnd(text, i)
	case newline:
		return spacesEnd(text, i)
	}
	after := i + size
	if end := wordEnd(text, after); end > after {
		return end
	}
	if c == sign {
		return signsEnd(text, after)
	}
	if text[i] == ' ' && after < len(text) {
		if next, size := classAt(text, after); next == sign || next == mark {
			return signsEnd(text, after+size)
		}
	}
	return spacesEnd(text, i)
}

// classAt is the class and the length of the character at i.
func classAt(text string, i int) (class, int) {
	if c := byteClass[text[i]]; c != wide {
		return c, 1
	}
	return wideClass(text[i:])
}

// wideClass is classAt of the start of the text.
func wideClass(text string) (class, int) {
	r, size := utf8.DecodeRuneInString(text)
	return classOf(r), size
}

// wordEnd is the end of the word that starts at i, or i if none does.
func wordEnd(text string, i int) int {
	end := i
	for end < len(text) && byteClass[text[end]] == upper {
		end++
	}
	for end < len(text) && byteClass[text[end]] == lower {
		end++
	}
	if end < len(text) {
		switch {
		case byteClass[text[end]] == wide:
			return wideWordEnd(text, i)
		case text[end] == '\'' && end > i:
			return contractionEnd(text, end)
		}
	}
	return end
}

// wideWordEnd is wordEnd for words of all letters. Letters without case go with both cases: a word ends after its small letters if it
// has any, otherwise after the last letter without case, and after its capitals only if it has nothing else.
func wideWordEnd(text string, i int) int {
	j, uncased := i, i
	for j < len(text) {
		c, size := classAt(text, j)
		if c == letter || c == mark {
			uncased = j + size
		} else if c != upper {
			break
		}
		j += size
	}
	small := j
	for small < len(text) {
		c, size := classAt(text, small)
		if c != lower && c != letter && c != mark {
			break
		}
		small += size
	}
	switch {
	case small > j:
		return contractionEnd(text, small)
	case uncased > i:
		return contractionEnd(text, uncased)
	case j > i:
		return contractionEnd(text, j)
	}
	return i
}

// contractionEnd takes 's, 't, 're, 've, 'm, 'll and 'd to the word that ends at i. A long s is an s without its case.
func contractionEnd(text string, i int) int {
	if len(text)-i < 2 || text[i] != '\'' {
		return i
	}
	second := byte(0)
	if len(text)-i > 2 {
		second = text[i+2] | 0x20
	}
	switch text[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if second == 'e' {
			return i + 3
		}
	case 'l':
		if second == 'l' {
			return i + 3
		}
	}
	const longS = "ſ"
	if len(text)-i > len(longS) && text[i+1:i+1+len(longS)] == longS {
		return i + 1 + len(longS)
	}
	return i
}

// digitsEnd is the end of at most three digits, the first of which ends at i.
func digitsEnd(text string, i int) int {
	for range 2 {
		if i == len(text) {
			break
		}
		c, size := classAt(text, i)
		if c != digit {
			break
		}
		i += size
	}
	return i
}

// signsEnd is the end of the signs that go on at i, with the ends of lines and slashes after them.
func signsEnd(text string, i int) int {
	for i < len(text) {
		c, size := classAt(text, i)
		if c != sign && c != mark {
			break
		}
		i += size
	}
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || text[i] == '/') {
		i++
	}
	return i
}

// spacesEnd is the end of the spaces that start at i, the first of which goes with no word and no sign. With ends of lines among them
// they end with the last of those. Otherwise the last space is left to what follows, if there are two or more.
func spacesEnd(text string, i int) int {
	last, line, j := i, i, i
	for j < len(text) {
		c, size := classAt(text, j)
		if c != space && c != newline {
			break
		}
		last = j
		j += size
		if c == newline {
			line = j
		}
	}
	switch {
	case line > i:
		return line
	case j < len(text) && last > i:
		return last
	}
	return j
}
