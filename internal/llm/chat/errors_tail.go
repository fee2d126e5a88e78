package chat

import "strings"

// tailLines is how many lines at the end are searched for words that mean failure only there:
// programs say last why they stopped.
const tailLines = 10

// endsLikeError judges the last lines of a text.
func endsLikeError(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	if hash, ok := strings.CutPrefix(text, "commit "); ok && len(hash) >= 40 && isHash(hash[:40]) {
		return false // commits describe past failures
	}
	if text == "timeout" || text == "Timeout" || text == "TIMEOUT" {
		return true
	}
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

// maxReport is the maximum length of a line to be read as a report.
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
	if announcesError(low) {
		return true
	}
	for _, w := range tailWords[1:] { // the first belongs to announcesError
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

// mayReport reports whether a line has a fragment of one of tailWords, in either case: "out" after
// an e, a d or a space, "efus", or "error" after a space or a line. Few lines do; the others need
// no closer look.
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

var tailWords = []string{" error", "timed out", "connect_error", "connection refused", "timeout", "etimedout", "econnrefused"}

// reports judges one of the words at its place in a lower-case line. Quoted, as part of a name,
// assigned or declared it is code; in the middle of a sentence it is prose.
func reports(low string, start, end int, word string) bool {
	before, after := byte(' '), ""
	if start > 0 {
		before = low[start-1]
	}
	after = low[end:]
	if looksLikeCode(low) {
		return false
	}
	if word == "connect_error" || word == "etimedout" || word == "econnrefused" {
		return !isQuoted(low, start, end)
	}
	if isLetter(before) || isDigit(before) || before == '_' || before == '.' || before == '-' || before == '$' || isQuoted(low, start, end) {
		return false
	}
	if after != "" && (isLetter(after[0]) || isDigit(after[0]) || strings.IndexByte("_=(.[-'\"`", after[0]) >= 0) {
		return after[0] == '.' && strings.TrimRight(after, ". ") == "" || after[0] == '(' && word != "timeout"
	}
	if word != "timeout" {
		return true
	}
	after = strings.TrimLeft(after, " \t\r")
	if strings.TrimRight(after, ",") == "" {
		return endsInTimeout(low[:start])
	}
	if strings.IndexByte(")!,;", after[0]) >= 0 || strings.HasPrefix(after, "of ") && strings.Contains(after, "exceeded") {
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

// afterTimeout are the words that follow a timeout that happened.
var afterTimeout = wordSet("after while waiting exceeded expired reached occurred during error fetching connecting reading when on at")

// endsInTimeout judges the text before a timeout that ends its line. A report says what took too
// long, or why something failed; a list of names does neither.
func endsInTimeout(before string) bool {
	before = strings.TrimRight(before, " \t")
	if before == "" {
		return false
	}
	if c := before[len(before)-1]; c == ':' || c == '(' {
		return true
	}
	return beforeTimeout[before[strings.LastIndexAny(before, " \t")+1:]]
}

// beforeTimeout are the words before a timeout that happened.
var beforeTimeout = wordSet("request gateway i/o io connection connect read write socket network response operation command test query lock " +
	"idle handshake session upstream server client dns execution statement process wait transaction navigation tcp http to of by")

// announcesError finds what compilers put between the place and the message: ": error:", ": fatal
// error:", ": error TS2304:", " - error TS2304:". Within a string it is a format.
func announcesError(low string) bool {
	for from := 0; ; {
		i := strings.Index(low[from:], " error")
		if i < 0 {
			return false
		}
		i += from
		from = i + len(" error")
		before := strings.TrimSuffix(low[:i], " fatal")
		if !strings.HasSuffix(before, ":") && !strings.HasSuffix(before, " -") || strings.ContainsAny(before, "\"'`%{$^") || isComment(before) {
			continue
		}
		after := low[from:]
		if strings.HasPrefix(after, ":") || strings.HasPrefix(after, " (at ") {
			return true
		}
		code, _, ok := strings.Cut(after, ":")
		if ok && len(code) > 2 && code[0] == ' ' && isLetter(code[1]) && isDigit(code[len(code)-1]) && !strings.Contains(code[1:], " ") {
			return true
		}
	}
}

// isComment recognizes a comment, a quotation, a table row or a list item.
func isComment(line string) bool {
	t := strings.TrimLeft(line, " \t")
	for _, p := range []string{"#", "//", "*", "/*", "|", ">", "- "} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}

func isQuoted(s string, start, end int) bool {
	return start > 0 && end < len(s) && strings.IndexByte("'\"`", s[start-1]) >= 0 && strings.IndexByte("'\"`", s[end]) >= 0
}

// looksLikeCode recognizes a line of source code or of settings.
func looksLikeCode(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" {
		return false
	}
	switch t[len(t)-1] {
	case '{', '}', ';', '\\', '(':
		return true
	case '>':
		return t[0] == '<'
	case '|':
		return t[0] == '|'
	}
	if strings.HasSuffix(t, " ok") || strings.HasSuffix(t, " passed") {
		return true // a test that did not fail
	}
	for _, p := range []string{"#", "//", "/*", "*", "--", "def ", "return ", "if ", "elif ", "else", "for ", "while ", "raise ", "throw ", "except", "catch", "import ", "from ", "self.", "@", "- ", "* ", ">>>", "assert", "✓", "✔", "√"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return strings.Contains(t, " = ") || strings.Contains(t, "==") || strings.Contains(t, " := ") || strings.Contains(t, "=>") || strings.Contains(t, "->")
}

// looksLikeMatch recognizes a search result, "path:12:text" or "12:text", or a numbered line of a
// file.
func looksLikeMatch(line string) bool {
	t := strings.TrimLeft(line, " ")
	if word, _, ok := strings.Cut(t, " "); ok && isHash(word) {
		return true // a commit and its subject
	}
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
	// A compiler's message has a column or a space after its line number.
	return j > colon+1 && j < len(t) && t[j] == ':' && j+1 < len(t) && (t[j+1] != ' ' || strings.HasPrefix(t[j+1:], "  ")) && !isDigit(t[j+1])
}

// isHash recognizes the hash of a commit, whole or short.
func isHash(word string) bool {
	if len(word) < 7 || len(word) > 40 {
		return false
	}
	digits := false
	for i := range len(word) {
		c := word[i]
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
		digits = digits || isDigit(c)
	}
	return digits
}

// hasClock recognizes a time, 12:34, as opposed to a line number.
func hasClock(t string, colon int) bool {
	return colon <= 2 && colon+2 < len(t) && isDigit(t[colon+1]) && isDigit(t[colon+2])
}
