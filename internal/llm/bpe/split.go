package bpe

import "unicode/utf8"

// pieceEnd returns the end of the piece that starts at i: the match of o200k_base's regular
// expression.
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The first alternative that matches is taken, in this order.
func pieceEnd(text string, i int) int {
	c, size := classAt(text, i)
	switch c {
	case digit:
		return digitsEnd(text, i+size)
	case upper, lower, letter, mark:
		// A mark may also precede a word. The result is the same: the mark then belongs to the
		// word.
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

// classAt returns the class and the length of the character at i.
func classAt(text string, i int) (class, int) {
	if c := byteClass[text[i]]; c != wide {
		return c, 1
	}
	return wideClass(text[i:])
}

// wideClass is classAt for the start of the text.
func wideClass(text string) (class, int) {
	r, size := utf8.DecodeRuneInString(text)
	return classOf(r), size
}

// wordEnd returns the end of the word that starts at i, or i if none does.
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

// wideWordEnd is wordEnd for all scripts. Letters without case fit both cases. A word ends after
// its lower-case letters if it has any, otherwise after the last letter without case. It ends after
// its capitals only if it has nothing else.
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

// contractionEnd extends the word that ends at i by 's, 't, 're, 've, 'm, 'll or 'd. A long s
// counts as s when case is ignored.
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

// digitsEnd returns the end of at most three digits; the first of them ends at i.
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

// signsEnd returns the end of the signs that continue at i, including the line ends and slashes
// after them.
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

// spacesEnd returns the end of the run of spaces that starts at i and belongs to no word or sign. A
// run with line ends stops after the last of them. Otherwise a run of two or more leaves its last
// space to the next piece.
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
