package pins

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Finding names a suspicious property of a definition.
type Finding string

// The findings.
const (
	// characters that a model reads but a person does not see
	InvisibleCharacters Finding = "invisible_characters"
	// escape sequences that make terminals hide or overwrite text
	ANSI Finding = "ansi"
	// commands to the model that are not about the tool
	Commands Finding = "instructions"
	// tags that set such commands apart, or hidden comments
	Markup Finding = "markup"
	// a name that resembles another server's tool
	LookAlike Finding = "look_alike"
)

// Found is a finding with the words that it is about.
type Found struct {
	Finding Finding  `json:"finding"`
	Words   []string `json:"words"` // characters without a glyph as in U+200B
}

// maxFound limits the words of a finding.
const maxFound = 8

// FindAll returns the findings in a tool's own name and definition.
func FindAll(name, definition string) (list []Found) {
	// A definition is JSON, so undo its escapes first.
	text := name + "\n" + unescaped(definition)
	for _, f := range []Found{
		{InvisibleCharacters, invisibleIn(text)},
		{ANSI, quotedAll(ansi.FindAllString(text, maxFound))},
		{Commands, instructions.FindAllString(spaced(text), maxFound)},
		{Markup, markup.FindAllString(text, maxFound)},
	} {
		if len(f.Words) > 0 {
			slices.Sort(f.Words)
			f.Words = slices.Compact(f.Words)
			list = append(list, f)
		}
	}
	return list
}

// Findings returns the findings of FindAll without their words.
func Findings(name, definition string) []Finding { return findingsOf(FindAll(name, definition)) }

func findingsOf(found []Found) (list []Finding) {
	for _, f := range found {
		list = append(list, f.Finding)
	}
	return list
}

// invisibleIn returns the characters of a text that have no glyph.
func invisibleIn(text string) (found []string) {
	for _, r := range text {
		if !IsInvisible(r) {
			continue
		}
		if name := fmt.Sprintf("%U", r); !slices.Contains(found, name) && len(found) < maxFound {
			found = append(found, name)
		}
	}
	return found
}

// quotedAll makes control characters visible.
func quotedAll(words []string) []string {
	for i, w := range words {
		words[i] = strings.Trim(strconv.QuoteToASCII(w), `"`)
	}
	return words
}

// IsInvisible reports whether a character has no visible glyph: zero width, bidirectional controls,
// tags (which spell hidden ASCII), variation selectors except those of emoji, fillers.
func IsInvisible(r rune) bool {
	switch {
	case r == '\u00ad' || r == '\u034f' || r == '\u061c' || r == '\u115f' || r == '\u1160' || r == '\u180e' || r == '\u3164' || r == '\uffa0',
		r >= '\u200b' && r <= '\u200f' && r != '\u200d', r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r == '\ufeff',
		r >= 0xe0000 && r <= 0xe0fff, r >= '\ufff0' && r <= '\ufffb':
		return true
	}
	return unicode.Is(unicode.Co, r)
}

var (
	ansi         = regexp.MustCompile(`\x1b|\x{9b}|\\x1b|\\033|\\e\[`)
	instructions = regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override) (all |any |the |your |these |every )*(previous|prior|above|earlier|other|preceding|system|existing) ?` +
		`|\bdo not (tell|inform|mention|reveal|show|notify|alert)( this| it| that)?( to)? (the )?(user|human|anyone|person)` +
		`|\bwithout (telling|informing|asking|notifying) (the )?(user|human)` +
		`|\b(before|after|instead of) (using|calling|running|invoking) (this|any|other|another)( other)? tools?,? (you must|always|first|read|send|call)` +
		`|\byou (must|should) (always |first |also )*(read|send|include|pass|exfiltrate|upload|forward) .{0,60}(\.ssh|id_rsa|\.env\b|credentials|password|api key|private key|conversation|secrets?\b)` +
		`|\b(new|updated|real|actual) (system )?instructions?:|\bsystem prompt\b|\byou are now\b|\bsecretly\b`)
	markup = regexp.MustCompile(`(?i)<!--|</?(important|system|instructions?|secret|hidden|assistant|user|admin|critical|prompt|script|iframe|img|style|svg)\b[^>]*>|\[/?(system|inst)\]|<\|[a-z_]+\|>|!\[[^\]]*\]\(|javascript:`)
)

// spaced collapses white space, so that phrases are found across lines.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

var escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\[nrtbf"/\\]`)

// unescaped undoes the escapes in the strings of a JSON text.
func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(e string) string {
		switch e[1] {
		case 'u':
			var r rune
			for _, c := range strings.ToLower(e[2:]) {
				r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c)) //nolint:gosec // a digit
			}
			return string(r)
		case 'n', 'r', 't', 'b', 'f':
			return " "
		}
		return e[1:]
	})
}

// ToolName names a tool of a server.
type ToolName struct{ Server, Tool string }

// LookAlikes returns the tools whose names resemble a tool of another server but are spelled
// differently.
func LookAlikes(all []ToolName) (found []ToolName) {
	alike := map[string][]ToolName{}
	for _, n := range all {
		alike[skeleton(n.Tool)] = append(alike[skeleton(n.Tool)], n)
	}
	for _, n := range all {
		if slices.ContainsFunc(alike[skeleton(n.Tool)], func(o ToolName) bool { return o.Server != n.Server && o.Tool != n.Tool }) ||
			slices.ContainsFunc(all, func(o ToolName) bool { return o.Server != n.Server && strings.HasPrefix(n.Tool, o.Server+"::") }) {
			found = append(found, n)
		}
	}
	return found
}

// confusable maps digits and letters of other scripts to similar Latin letters, in the manner of
// Unicode's confusables (UTS 39).
var confusable = strings.NewReplacer(
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "l", "ѕ", "s", "ј", "j", "к", "k", "м", "m", "т", "t", "н", "h", "в", "b", "ԁ", "d", "ѡ", "w",
	"α", "a", "ο", "o", "ρ", "p", "ε", "e", "ι", "l", "κ", "k", "ν", "v", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ı", "l",
	"0", "o", "1", "l", "3", "e", "5", "s", "rn", "m", "vv", "w", "i", "l",
)

// skeleton returns the same text for names that look alike.
func skeleton(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case IsInvisible(r) || r == '\u200d' || strings.ContainsRune("-_.:/ ", r):
			return -1
		case r >= '\uff01' && r <= '\uff5e': // full width
			return unicode.ToLower(r - 0xfee0)
		}
		return unicode.ToLower(r)
	}, name)
	return confusable.Replace(name)
}
