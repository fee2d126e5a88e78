package prune

import "strings"

// readCode classifies each row of a program: import, header, comment, closing. The language is
// unknown. The rules are the union of what common languages write at the start of a line. Each rule
// has the shape that distinguishes it from other code.
func (t *text) readCode() {
	var s codeState
	for r := range t.rows() {
		t.kind[r] |= s.kind(t.row(r), t.indent[r])
	}
	t.markFileHead()
}

// codeState carries over from line to line.
type codeState struct {
	comment string // the end of the current comment or doc string; "": outside
	imports byte   // the closing bracket of the current import list; 0: outside
	left    int    // how many more lines such a list may have
}

func (s *codeState) kind(line string, indent uint16) kind {
	if s.comment != "" {
		if i := strings.Index(line, s.comment); i >= 0 {
			s.comment = ""
		}
		return isComment
	}
	if s.imports != 0 {
		s.left--
		if strings.IndexByte(line, s.imports) >= 0 || s.left <= 0 {
			s.imports = 0
		}
		return isStructure | isImport
	}
	switch {
	case isLineComment(line):
		if strings.HasPrefix(line, "/*") && !strings.Contains(line[2:], "*/") {
			s.comment = "*/"
		}
		if strings.HasPrefix(line, "<!--") && !strings.Contains(line[4:], "-->") {
			s.comment = "-->"
		}
		if strings.HasPrefix(line, "{-") && !strings.Contains(line[2:], "-}") {
			s.comment = "-}"
		}
		return isComment
	case line[0] == '#' && !strings.HasPrefix(line, "#["):
		if word := firstWord(line[1:]); word == "include" || word == "import" {
			return isDirective | isStructure | isImport
		}
		return isDirective
	case strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "'''") || strings.HasPrefix(line, `r"""`):
		quote := line[strings.IndexAny(line, `"'`):][:3]
		if !strings.Contains(line[strings.Index(line, quote)+3:], quote) {
			s.comment = quote
		}
		return isComment
	case strings.HasPrefix(line, "=begin"):
		s.comment = "=end"
		return isComment
	case line[0] == '@' || strings.HasPrefix(line, "#["):
		if strings.HasPrefix(line, "@import") || strings.HasPrefix(line, "@interface") ||
			strings.HasPrefix(line, "@implementation") || strings.HasPrefix(line, "@protocol") || strings.HasPrefix(line, "@use ") {
			return isStructure
		}
		return isDecorator
	}
	if isCloser(line) {
		return isClosing
	}
	if isLabel(line) {
		return isDirective
	}
	if k := importKind(line); k != 0 {
		s.open(line)
		return k
	}
	if isHeader(line, indent) {
		return isStructure
	}
	return 0
}

// open notes an import list that continues in the next lines.
func (s *codeState) open(line string) {
	for _, pair := range []string{"()", "{}"} {
		if strings.Count(line, pair[:1]) > strings.Count(line, pair[1:]) {
			s.imports, s.left = pair[1], 300
		}
	}
}

// isLineComment reports whether a line begins as a comment. A "#" does, unless it begins a C
// directive or a Rust attribute.
func isLineComment(line string) bool {
	switch line[0] {
	case '/':
		return len(line) > 1 && (line[1] == '/' || line[1] == '*')
	case '*':
		return len(line) == 1 || line[1] == ' ' || line[1] == '/' || line[1] == '*'
	case '#':
		return !strings.HasPrefix(line, "#[") && !strings.HasPrefix(line, "#![") && !directiveWords[firstWord(line[1:])]
	case '-':
		return strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "--;")
	case ';':
		return len(line) > 1 && (line[1] == ' ' || line[1] == ';')
	case '%':
		return len(line) > 1 && (line[1] == ' ' || line[1] == '%')
	case '<':
		return strings.HasPrefix(line, "<!--")
	case '{':
		return strings.HasPrefix(line, "{-")
	}
	return false
}

var directiveWords = wordsOf("include import define undef if ifdef ifndef elif elifdef else endif pragma error warning line region endregion using")

// isCloser reports whether a line only closes or continues what an earlier one opened.
func isCloser(line string) bool {
	switch line[0] {
	case '}', ')', ']':
		return true
	case '{':
		return strings.TrimLeft(line, "{ \t") == ""
	}
	return roleOf(firstWord(line))&closes != 0
}

// isLabel reports whether a line is a name and a colon, such as a jump target or an access label.
func isLabel(line string) bool {
	if line[len(line)-1] != ':' || strings.HasPrefix(line, "default") {
		return false
	}
	word := firstWord(line)
	return len(word) > 0 && len(strings.TrimSpace(line[len(word):])) == 1 && !strings.HasPrefix(line, "try") && !strings.HasPrefix(line, "else")
}

// markFileHead marks the head of the file: an interpreter line, the first line of its opening
// comment, its package.
func (t *text) markFileHead() {
	for r := range min(t.rows(), 400) {
		line := t.row(r)
		word := firstWord(line)
		switch {
		case r == 0 && (t.kind[r]&isComment != 0 || strings.HasPrefix(line, "#!") || strings.HasPrefix(line, "<?")):
			t.kind[r] |= isFileHead | isStructure
		case t.indent[r] == 0 && headWords[word] && t.kind[r]&isStructure != 0:
			t.kind[r] |= isFileHead
			return
		case t.kind[r]&(isComment|isDirective|isImport|isDecorator) == 0:
			return
		}
	}
}

var headWords = wordsOf("package namespace module defmodule library unit program")

// markWholeHead extends the file header to the whole opening comment, if it is short.
func (t *text) markWholeHead() {
	const most = 12
	for r := 0; t.source == Code && r < min(most, t.rows()) && t.kind[r]&isComment != 0; r++ {
		t.kind[r] |= isFileHead | isStructure
	}
}

func wordsOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// firstWord returns the identifier at the start of a line, after white space.
func firstWord(line string) string {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	j := i
	for j < len(line) && classes[line[j]] != sepClass {
		j++
	}
	return line[i:j]
}
