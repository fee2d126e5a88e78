package replay

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// identifiers returns the distinctive words of a message. They have at least six letters, digits or
// underscores, with a digit, an underscore or an inner capital among them. In the arguments of a
// call it reads the strings, not their JSON.
func (m *rendered) identifiers() map[string]bool {
	if m.words != nil {
		return m.words
	}
	m.words = make(map[string]bool)
	addWords(m.words, m.said)
	for _, text := range m.calls {
		if arguments := jsontext.Value(text); arguments.IsValid(lenient) {
			addStrings(m.words, arguments)
		} else {
			addWords(m.words, text)
		}
	}
	return m.words
}

// addStrings adds the words of all strings of a document, including member names.
func addStrings(set map[string]bool, doc jsontext.Value) {
	d := jsontext.NewDecoder(bytes.NewReader(doc), lenient)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return // the end: the document is valid
		}
		if token.Kind() == '"' {
			addWords(set, token.String())
		}
	}
}

func addWords(set map[string]bool, text string) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isWord(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= 6 && isShaped(text[start:i]) {
			set[strings.Clone(text[start:i])] = true
		}
		start = -1
	}
}

func isShaped(w string) bool {
	for i := range len(w) {
		c := w[i]
		if c == '_' || '0' <= c && c <= '9' {
			return true
		}
		if i > 0 && isUpper(c) && isLower(w[i-1]) {
			return true
		}
		if i > 1 && isLower(c) && isUpper(w[i-1]) && isUpper(w[i-2]) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool  { return c == '_' || '0' <= c && c <= '9' || isUpper(c) || isLower(c) }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
