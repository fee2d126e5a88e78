package prune

import "strings"

// readLogs classifies each row of a log: an error, part of a stack trace, the end of a command.
func (t *text) readLogs() {
	flags := t.termFlags()
	inTrace := false
	for r := range t.rows() {
		line := t.row(r)
		var k kind
		for _, id := range t.termsOf(r) {
			k |= flags[id]
		}
		if hasSign(line) {
			k |= isWeakError
		}
		frame := isFrame(line)
		switch {
		case frame:
			k |= isTrace
			inTrace = true
		case inTrace && t.indent[r] > 0 && k&isLevelLow == 0: // a frame's own source line
			k |= isTrace
		default:
			inTrace = strings.HasPrefix(line, "Traceback (most recent") || strings.HasPrefix(line, "goroutine ")
			if inTrace {
				k |= isTrace | isError
			}
		}
		if whole := t.lines.Line(int(t.line[r]) + 1); isRedText(whole) {
			k |= isRed
		}
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "##[group]") {
			k |= isCommand
		}
		t.kind[r] |= k
	}
}

// termFlags returns the kinds that single words give a row.
func (t *text) termFlags() []kind {
	flags := make([]kind, t.vocab.len())
	for words, k := range logWords {
		for w := range strings.FieldsSeq(words) {
			b := []byte(w)
			if id := t.vocab.find(hashBytes(b[:stem(b)])); id != unknown {
				flags[id] |= k
			}
		}
	}
	return flags
}

var logWords = map[string]kind{
	"error exception traceback panic fatal segfault erreur": isError,
	`err fail failure failing failed critical abort aborted crash crashed cannot unable undefined unexpected invalid missing denied refused
	timeout killed assert assertion broken unresolved conflict mismatch unknown not expected`: isWeakError,
	"exit exited returned terminated stopped": isExit,
	"info debug trace verbose notice":         isLevelLow,
	"warn warning severe alert emerg":         isLevelHigh,
}

// isRedText reports whether a terminal shows part of the line in red.
func isRedText(line string) bool {
	for {
		i := strings.Index(line, "\x1b[")
		if i < 0 {
			return false
		}
		line = line[i+2:]
		switch {
		case strings.HasPrefix(line, "31"), strings.HasPrefix(line, "91"), strings.HasPrefix(line, "1;31"), strings.HasPrefix(line, "0;31"):
			return true
		}
	}
}

// hasSign looks for the signs that test runners put before a failure.
func hasSign(line string) bool {
	if strings.Contains(line, "ERR!") {
		return true
	}
	i := strings.IndexByte(line, 0xe2)
	return i >= 0 && (strings.Contains(line[i:], "✖") || strings.Contains(line[i:], "❌") || strings.Contains(line[i:], "✗") ||
		strings.Contains(line[i:], "✘") || strings.Contains(line[i:], "●"))
}

// isFrame recognises a line of a stack trace.
func isFrame(line string) bool {
	switch line[0] {
	case 'a':
		return strings.HasPrefix(line, "at ") && (strings.Contains(line, "(") || strings.Contains(line, ":"))
	case 'F':
		return strings.HasPrefix(line, `File "`) && strings.Contains(line, ", line ")
	case 'C':
		return strings.HasPrefix(line, "Caused by: ")
	case '.':
		return strings.HasPrefix(line, "... ") && strings.HasSuffix(line, " more")
	case '#':
		return len(line) > 2 && classes[line[1]] == digitClass && (strings.Contains(line, " in ") || strings.Contains(line, "(") || strings.Contains(line, " at "))
	case '/':
		return strings.Contains(line, ".go:") && strings.Contains(line, " +0x")
	case 'f':
		return strings.HasPrefix(line, "from ") && strings.Contains(line, ":in ")
	}
	return false
}
