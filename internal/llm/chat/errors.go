package chat

import (
	"strings"

	"secateur/internal/rawjson"
)

// looksLikeError reports whether a tool result reports a failure. Source code, prose and search
// results that merely contain the words do not count. The check looks at how lines start and, near
// the end, at how they put the words.
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

// errorObject reads text as a JSON object with an error, or one that declares itself an error.
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
		if strings.HasPrefix(line, "thread '") && strings.Contains(line, " panicked at ") {
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
	return namesError(line) || toolError(line)
}

// statesError judges what follows the first word of a line about an error. A report continues with
// words, a colon or a code; source code with its signs; a text about errors with what it says about
// them.
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
		if strings.HasPrefix(rest, "   ") && !strings.ContainsRune(rest, ':') {
			return false // the first column of a table
		}
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
	if quote := rest[0]; (quote == '"' || quote == '\'') && strings.IndexByte(rest[1:], quote) == len(rest)-2 {
		return false // a call without parentheses
	}
	// An assignment, a declaration, a call.
	return !strings.HasSuffix(rest, ";") && !strings.HasSuffix(rest, "{") && !strings.Contains(rest, " = ") && !strings.Contains(rest, " := ")
}

// aboutErrors are the words that follow in a text about errors.
var aboutErrors = wordSet("handling handler handlers message messages code codes type types value values class classes is are was were " +
	"and or checking recovery reporting logging log logs rate rates budget budgets management correction page pages boundary boundaries " +
	"object objects condition conditions as if for of to the that a an can may will should must has have does")

// saysNothing are the values that programs print after "Error:" when they know nothing more.
var saysNothing = wordSet("null undefined unknown None nil")

// startsLikeCode recognizes a declaration with a type or a default.
func startsLikeCode(after string) bool {
	word, _, _ := strings.Cut(after, " ")
	word = strings.TrimRight(word, ",;=|")
	switch word {
	case "typeof", "nil", "string", "str", "int", "bool", "boolean", "number", "any", "unknown", "error", "Error", "Exception", "null", "None", "undefined",
		"true", "false", "True", "False", "function", "func", "object":
		return word == strings.TrimRight(after, ",;= |") || strings.ContainsAny(after, "=|;{")
	}
	if _, value, ok := strings.Cut(after, " = "); ok && strings.HasPrefix(after, word+" = ") && !strings.Contains(value, " ") {
		return true
	}
	return after[0] == '{' && strings.HasSuffix(after, "{")
}

// namesError finds the name of an exception before the first colon: letters, digits, dots, ending
// in Error or Exception. Node puts a code in brackets after it.
func namesError(line string) bool {
	colon := -1
	for i := range min(len(line), 120) {
		c := line[i]
		if c == ':' {
			if strings.HasPrefix(line[i:], "::") || line[max(i-1, 0)] == ':' {
				continue
			}
			colon = i
			break
		}
		if c == ' ' {
			return endsInError(line[:i]) && isCode(line[i+1:])
		}
		if !isLetter(c) && !isDigit(c) && c != '.' && c != '_' && c != '$' {
			return false
		}
	}
	if colon < 0 || !isLetter(line[0]) {
		return false
	}
	name := line[:colon]
	if !endsInError(name) {
		return false
	}
	if name == "Error" || name == "Exception" {
		return false // alone it is judged with what follows it
	}
	after := strings.TrimLeft(line[colon+1:], " \t\r")
	return strings.HasPrefix(line[colon:], ": ") && after != "" && !startsLikeCode(after) || after == ""
}

func endsInError(name string) bool {
	return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") || strings.HasSuffix(name, "Timeout")
}

// isCode reports whether s starts with a code in brackets and a colon, "[ERR_ASSERTION]:".
func isCode(s string) bool {
	code, _, ok := strings.Cut(s, "]:")
	return ok && len(code) > 1 && code[0] == '[' && strings.ToUpper(code) == code && !strings.Contains(code, " ")
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
