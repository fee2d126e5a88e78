package chat

import (
	"strings"

	"secateur/internal/rawjson"
)

// looksLikeError tells whether a tool's result reports that something went wrong.
// Source code, prose and lists of matches that merely contain the words do not:
// what counts is how a line starts and, near the end, how it puts them.
func looksLikeError(text string) bool {
	if says, isObject := errorObject(text); isObject {
		return says
	}
	lines := 0
	for rest := text; rest != ""; lines++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if lines == 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if startsLikeError(line) {
			return true
		}
	}
	return endsLikeError(text)
}

// errorObject reads text as a JSON object that has an error, or says that it is one.
func errorObject(text string) (says, isObject bool) {
	trimmed := strings.Trim(text, " \t\r\n")
	if !strings.HasPrefix(trimmed, "{") || !strings.HasSuffix(trimmed, "}") {
		return false, false
	}
	doc := []byte(trimmed)
	s := rawjson.NewScanner(doc, MaxDepth)
	if s.Enter() != nil {
		return false, false
	}
	for {
		name, err := s.Next()
		if err != nil {
			return false, false
		}
		if name == nil {
			break
		}
		value, err := s.Skip()
		if err != nil {
			return false, false
		}
		switch {
		case is(name, "error"):
			says = says || string(value) != "null"
		case is(name, "fatal"):
			says = says || string(value) == "true"
		case is(name, "status"):
			says = says || is(value, "error")
		}
	}
	if s.End() != nil {
		return false, false
	}
	return says, true
}

// startsLikeError judges the first words of a line.
func startsLikeError(line string) bool {
	if line == "" {
		return false
	}
	switch line[0] | 0x20 {
	case 't':
		if hasPrefixFold(line, "traceback (most recent call last)") {
			return true
		}
		if strings.HasPrefix(line, "thread '") && strings.Contains(line, "' panicked at") {
			return true
		}
	case 'g':
		if strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(strings.TrimRight(line, "\r"), "]:") {
			return true
		}
	case 'p':
		if hasPrefixFold(line, "panic:") {
			return true
		}
	case 'f':
		if hasPrefixFold(line, "fatal") && statesError(line[len("fatal"):]) {
			return true
		}
	case 'e':
		if hasPrefixFold(line, "error") && statesError(line[len("error"):]) {
			return true
		}
		if hasPrefixFold(line, "exception") && statesError(line[len("exception"):]) {
			return true
		}
	}
	return namesError(line)
}

// statesError judges what follows the first word of a line that is about an error:
// a report goes on with words, a colon, a code; source code goes on with its
// signs, and a text about errors with what there is to say about them.
func statesError(rest string) bool {
	rest = strings.TrimRight(rest, " \t\r")
	if rest == "" {
		return true
	}
	switch rest[0] {
	case ':':
		after := strings.TrimLeft(rest[1:], " \t")
		return !strings.HasPrefix(rest, "::") && !strings.HasPrefix(rest, ":=") &&
			after != "" && (!startsLikeCode(after) || saysNothing[after])
	case '[', '!':
		return strings.ContainsRune(rest, ':') || rest[0] == '!'
	case ' ', '\t':
	default:
		return false
	}
	rest = strings.TrimLeft(rest, " \t")
	if c := rest[0]; !isLetter(c) && !isDigit(c) && c < 0x80 && !strings.ContainsRune("'\"`(-[#<", rune(c)) {
		return false
	}
	word := rest
	for i := range len(rest) {
		if !isLetter(rest[i]) {
			word = rest[:i]
			break
		}
	}
	if aboutErrors[strings.ToLower(word)] {
		return false
	}
	// An assignment, a declaration, a call.
	return !strings.HasSuffix(rest, ";") && !strings.HasSuffix(rest, "{") && !strings.Contains(rest, " = ") && !strings.Contains(rest, " := ")
}

// aboutErrors are the words with which a text goes on that is about errors.
var aboutErrors = wordSet("handling handler handlers message messages code codes type types value values class classes is are was were " +
	"and or checking recovery reporting logging log logs rate rates budget management correction page pages boundary boundaries " +
	"object objects condition conditions as if for of to the that a an can may will should must has have does")

// saysNothing are the values that programs print behind "Error:" when they know no more.
var saysNothing = wordSet("null undefined unknown None nil")

// startsLikeCode tells a declaration with a type or a default from a message.
func startsLikeCode(after string) bool {
	word, _, _ := strings.Cut(after, " ")
	word = strings.TrimRight(word, ",;=|")
	switch word {
	case "string", "str", "int", "bool", "boolean", "number", "any", "unknown", "error", "Error", "Exception", "null", "None", "undefined",
		"true", "false", "True", "False", "function", "func", "object":
		return word == strings.TrimRight(after, ",;= |") || strings.ContainsAny(after, "=|;{")
	}
	return after[0] == '{' && strings.HasSuffix(after, "{")
}

// namesError finds the name of an exception before the first colon: letters,
// digits, dots, ending in Error or Exception.
func namesError(line string) bool {
	colon := -1
	for i := range min(len(line), 120) {
		c := line[i]
		if c == ':' {
			colon = i
			break
		}
		if !isLetter(c) && !isDigit(c) && c != '.' && c != '_' && c != '$' {
			return false
		}
	}
	if colon < 0 || !isLetter(line[0]) {
		return false
	}
	name := line[:colon]
	if !strings.HasSuffix(name, "Error") && !strings.HasSuffix(name, "Exception") && !strings.HasSuffix(name, "Timeout") {
		return false
	}
	if name == "Error" || name == "Exception" {
		return false // alone it is judged with what follows it
	}
	after := strings.TrimLeft(line[colon+1:], " \t\r")
	return strings.HasPrefix(line[colon:], ": ") && after != "" && !startsLikeCode(after) || after == ""
}

// tailLines is how many lines from the end are searched for words that mean
// failure only there: programs say last why they stopped.
const tailLines = 10

// endsLikeError judges the last lines of a text.
func endsLikeError(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	for range tailLines {
		if text == "" {
			return false
		}
		start := strings.LastIndexByte(text, '\n') + 1
		if tailError(text[start:]) {
			return true
		}
		text = strings.TrimRight(text[:start], "\r\n")
	}
	return false
}

// maxReport is how long a line may be to be read as a report.
const maxReport = 2000

func tailError(line string) bool {
	if len(line) > maxReport {
		line = line[len(line)-maxReport:]
	}
	if !mayReport(line) {
		return false
	}
	low := strings.ToLower(line)
	hit := false
	for _, w := range tailWords {
		if strings.Contains(low, w) {
			hit = true
			break
		}
	}
	if !hit || looksLikeMatch(line) {
		return false
	}
	if strings.Contains(low, ": error:") {
		return true
	}
	for _, w := range tailWords[1:] {
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			i += from
			if reports(low, i, i+len(w), w) {
				return true
			}
			from = i + len(w)
		}
	}
	return false
}

// mayReport tells whether a line has, in either case, what each of tailWords has some
// of: "out" behind an e, a d or a space, "efus", or "error" behind a space or a line.
// Few lines do; the others need not be looked at closely.
func mayReport(line string) bool {
	for i := 3; i < len(line)-1; i++ {
		switch line[i] | 0x20 {
		case 'u':
			before, after := line[i-1]|0x20, line[i+1]|0x20
			first := line[i-2] | 0x20
			if before == 'o' && after == 't' && (first == 'e' || first == 'd' || first == ' ') ||
				before == 'f' && after == 's' && first == 'e' {
				return true
			}
		case 'r':
			if line[i+1]|0x20 == 'o' && line[i-1]|0x20 == 'r' && line[i-2]|0x20 == 'e' && (line[i-3] == ' ' || line[i-3] == '_') {
				return true
			}
		}
	}
	return false
}

var tailWords = []string{": error:", "timed out", "connect_error", "connection refused", "timeout", "etimedout", "econnrefused"}

// reports judges one of the words where it stands in a line of lower case: quoted,
// as part of a name, assigned or declared it is code, and in the middle of a
// sentence it is prose.
func reports(low string, start, end int, word string) bool {
	before, after := byte(' '), ""
	if start > 0 {
		before = low[start-1]
	}
	after = low[end:]
	if word == "connect_error" || word == "etimedout" || word == "econnrefused" {
		return !isQuoted(low, start, end)
	}
	if isLetter(before) || isDigit(before) || before == '_' || before == '.' || before == '-' || before == '$' || isQuoted(low, start, end) {
		return false
	}
	if after != "" && (isLetter(after[0]) || isDigit(after[0]) || strings.IndexByte("_=(.[-'\"`", after[0]) >= 0) {
		return after[0] == '.' && strings.TrimRight(after, ". ") == "" || after[0] == '(' && word != "timeout"
	}
	if looksLikeCode(low) {
		return false
	}
	if word != "timeout" {
		return true
	}
	after = strings.TrimLeft(after, " \t")
	if after == "" || strings.IndexByte(")!,;", after[0]) >= 0 || strings.HasPrefix(after, "of ") && strings.Contains(after, "exceeded") {
		return true
	}
	if after[0] == ':' {
		said := strings.TrimLeft(after[1:], " \t")
		return said == "" || isLetter(said[0]) && !startsLikeCode(said)
	}
	next := after
	for i := range len(after) {
		if !isLetter(after[i]) {
			next = after[:i]
			break
		}
	}
	return afterTimeout[next]
}

// afterTimeout are the words that go on telling about a timeout that happened.
var afterTimeout = wordSet("after while waiting exceeded expired reached occurred during error fetching connecting reading when on at")

func isQuoted(s string, start, end int) bool {
	return start > 0 && end < len(s) && strings.IndexByte("'\"`", s[start-1]) >= 0 && strings.IndexByte("'\"`", s[end]) >= 0
}

// looksLikeCode tells a line of source code or of settings from a message.
func looksLikeCode(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" {
		return false
	}
	switch t[len(t)-1] {
	case '{', '}', ';', '\\', '(':
		return true
	}
	for _, p := range []string{"#", "//", "/*", "*", "--", "def ", "return ", "if ", "elif ", "else", "for ", "while ", "raise ", "throw ", "except", "catch", "import ", "from ", "self.", "@", "- ", "* ", ">>>", "assert"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return strings.Contains(t, " = ") || strings.Contains(t, "==") || strings.Contains(t, " := ") || strings.Contains(t, "=>") || strings.Contains(t, "->")
}

// looksLikeMatch tells a line that a search found, "path:12:text" or "12:text", or
// a numbered line of a file.
func looksLikeMatch(line string) bool {
	t := strings.TrimLeft(line, " ")
	i := 0
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	if i > 0 && i < len(t) && (t[i] == ':' && !hasClock(t, i) || t[i] == '\t' || t[i] == '|' || strings.HasPrefix(t[i:], "→") || strings.HasPrefix(t[i:], "│")) {
		return true
	}
	colon := strings.IndexByte(t, ':')
	if colon <= 0 || colon+1 >= len(t) || strings.ContainsAny(t[:colon], " \t") {
		return false
	}
	j := colon + 1
	for j < len(t) && isDigit(t[j]) {
		j++
	}
	// A compiler's message has a column or a space behind its line number.
	return j > colon+1 && j < len(t) && t[j] == ':' && j+1 < len(t) && t[j+1] != ' ' && !isDigit(t[j+1])
}

// hasClock tells a time, 12:34, from a line number.
func hasClock(t string, colon int) bool {
	return colon <= 2 && colon+2 < len(t) && isDigit(t[colon+1]) && isDigit(t[colon+2])
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
