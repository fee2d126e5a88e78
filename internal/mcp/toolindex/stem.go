package toolindex

import "strings"

// stem reduces an English word in lower case to its stem: Porter's algorithm of 1980.
func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	w = stemPlural(w)
	if ownMeaning[w] {
		return w
	}
	w = stemPast(w)
	if cut, ok := strings.CutSuffix(w, "y"); ok && hasVowel(cut) {
		w = cut + "i"
	}
	w = stemSuffix(w, suffixesTwo, 1)
	w = stemSuffix(w, suffixesThree, 1)
	w = stemLast(w)
	if cut, ok := strings.CutSuffix(w, "e"); ok && (measure(cut) > 1 || measure(cut) == 1 && !endsShort(cut)) {
		w = cut
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// ownMeaning are words whose stem would be another word.
var ownMeaning = setOf("setting meeting parking booking marketing building meaning banking housing news maths something anything nothing everything during")

func stemPlural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	default:
		return strings.TrimSuffix(w, "s")
	}
}

func stemPast(w string) string {
	if cut, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(cut) > 0 {
			return w[:len(w)-1]
		}
		return w
	}
	cut, ok := strings.CutSuffix(w, "ed")
	if !ok {
		cut, ok = strings.CutSuffix(w, "ing")
	}
	if !ok || !hasVowel(cut) {
		return w
	}
	switch {
	case strings.HasSuffix(cut, "at"), strings.HasSuffix(cut, "bl"), strings.HasSuffix(cut, "iz"):
		return cut + "e"
	case endsDouble(cut) && !strings.ContainsRune("lsz", rune(cut[len(cut)-1])):
		return cut[:len(cut)-1]
	case measure(cut) == 1 && endsShort(cut):
		return cut + "e"
	}
	return cut
}

// suffixesTwo and suffixesThree are steps 2 and 3 of the algorithm: what a suffix becomes. The longest that fits counts.
var (
	suffixesTwo = []string{
		"ization", "ize", "ational", "ate", "fulness", "ful", "ousness", "ous", "iveness", "ive", "tional", "tion", "biliti", "ble",
		"entli", "ent", "ousli", "ous", "ation", "ate", "alism", "al", "aliti", "al", "iviti", "ive", "enci", "ence", "anci", "ance",
		"izer", "ize", "abli", "able", "alli", "al", "ator", "ate", "eli", "e",
	}
	suffixesThree = []string{"icate", "ic", "ative", "", "alize", "al", "iciti", "ic", "ical", "ic", "ness", "", "ful", ""}
	suffixesFour  = []string{
		"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou",
	}
)

func stemSuffix(w string, table []string, least int) string {
	for i := 0; i < len(table); i += 2 {
		if cut, ok := strings.CutSuffix(w, table[i]); ok {
			if measure(cut) >= least {
				return cut + table[i+1]
			}
			return w
		}
	}
	return w
}

func stemLast(w string) string {
	if cut, ok := strings.CutSuffix(w, "ion"); ok {
		if measure(cut) > 1 && (strings.HasSuffix(cut, "s") || strings.HasSuffix(cut, "t")) {
			return cut
		}
		return w
	}
	for _, suffix := range suffixesFour {
		if cut, ok := strings.CutSuffix(w, suffix); ok {
			if measure(cut) > 1 {
				return cut
			}
			return w
		}
	}
	return w
}

func isConsonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(w, i-1)
	}
	return true
}

// measure counts the sequences of vowels that a consonant follows.
func measure(w string) (m int) {
	vowel := false
	for i := range len(w) {
		if c := isConsonant(w, i); c && vowel {
			m++
			vowel = false
		} else if !c {
			vowel = true
		}
	}
	return m
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if !isConsonant(w, i) {
			return true
		}
	}
	return false
}

func endsDouble(w string) bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && isConsonant(w, n-1)
}

// endsShort tells of a word that ends in consonant, vowel, consonant, the last not w, x or y.
func endsShort(w string) bool {
	n := len(w)
	return n >= 3 && isConsonant(w, n-3) && !isConsonant(w, n-2) && isConsonant(w, n-1) && w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}
