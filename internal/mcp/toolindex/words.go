package toolindex

import (
	"strings"
	"unicode"
)

// word is a word of a text and how it stands there.
type word struct {
	text  string // in lower case, not stemmed
	kind  kind
	aside bool // it follows a preposition: "blobs in a container" is about blobs
}

// kind is what a word of a query may be besides a plain one.
type kind uint8

const (
	plain       kind = iota
	placeholder      // <resource_group>
	quoted           // "campaign1": mostly a value
	number
)

// words splits a text. Identifiers come in their parts, runs of Chinese or Japanese in pairs of characters.
func words(s string) []word {
	out := make([]word, 0, len(s)/6+1)
	in, aside := plain, false
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		first := len(out)
		out = appendParts(out, s[start:end], in)
		start = -1
		if len(out) == first+1 && prepositions[out[first].text] {
			aside = true
		}
		for i := first; i < len(out); i++ {
			out[i].aside = aside
		}
	}
	for i, r := range s {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r)
		if isWord {
			if start < 0 {
				start = i
			}
			continue
		}
		if (r == '_' || r == '-' || r == '.') && start >= 0 {
			continue // within an identifier
		}
		flush(i)
		if strings.ContainsRune(".,;:!?\n", r) {
			aside = false
		}
		switch {
		case r == '<' && in == plain && strings.ContainsRune(s[i+1:min(len(s), i+1+soon)], '>'):
			in = placeholder
		case r == '>' && in == placeholder:
			in = plain
		case r == '"' || r == '\'' && in == plain && opensQuote(s, i) || r == '\'' && in == quoted && closesQuote(s, i):
			if in == quoted {
				in = plain
			} else if in == plain && strings.ContainsRune(s[i+1:min(len(s), i+1+soon)], r) {
				in = quoted
			}
		}
	}
	flush(len(s))
	return out
}

// soon is within how many bytes what opens must close.
const soon = 60

func opensQuote(s string, i int) bool {
	return i == 0 || s[i-1] == ' ' || s[i-1] == '(' || s[i-1] == ':'
}

func closesQuote(s string, i int) bool {
	return i+1 == len(s) || s[i+1] < 'a' || s[i+1] > 'z'
}

// appendParts splits an identifier at its separators and where upper case begins.
func appendParts(out []word, s string, k kind) []word {
	part := 0
	runes := []rune(s)
	end := func(i int) {
		if i > part {
			out = appendPart(out, runes[part:i], k)
		}
		part = i
	}
	for i, r := range runes {
		switch {
		case r == '_' || r == '-' || r == '.':
			end(i)
			part = i + 1
		case i == part:
		case unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]),
			unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1]) && i+2 < len(runes),
			isWide(r) != isWide(runes[i-1]):
			end(i)
		}
	}
	end(len(runes))
	return out
}

func appendPart(out []word, part []rune, k kind) []word {
	if isWide(part[0]) {
		for i := range max(1, len(part)-1) {
			out = append(out, word{text: string(part[i:min(i+2, len(part))]), kind: k})
		}
		return out
	}
	text := strings.ToLower(string(part))
	if k == plain && strings.IndexFunc(text, unicode.IsLetter) < 0 {
		k = number
	}
	return append(out, word{text: text, kind: k})
}

// isWide tells a character of a script that puts no spaces between words.
func isWide(r rune) bool { return r >= 0x3040 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 }

// prepositions begin what is said aside.
var prepositions = setOf("in on of from for at within inside under with using by about into onto via through between near")

// stopWords say nothing about what is looked for.
var stopWords = setOf(`a an the of to in on for and or with is are was were be been being by from at as this that these those it its i i'm im ive you
	my your me we our us they their them he she his her can could please would should will shall may might must if then than so do does did done not no nor
	all any some each every into onto about what which how when where who whom whose why there here just also very too more most such only own same other
	s t ll re ve d m don doesn isn aren won let lets want need wants needs wanted like help tell know using via per etc eg ie
	am has have had having up out off over under again but because while both between through during before after above below am`)

func setOf(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		set[w] = true
	}
	return set
}

// sentence is the first sentence of a description.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	const least = 20
	for i, r := range s {
		if i < least {
			continue
		}
		switch r {
		case '\n':
			return s[:i]
		case '。':
			return s[:i+len("。")]
		case '.', '!', '?':
			if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
				return s[:i+1]
			}
		}
	}
	return s
}
