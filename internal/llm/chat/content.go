package chat

import (
	"slices"

	"secateur/internal/llm/tokens"
)

// parts says how to read a list of parts as content.
type parts struct {
	texts []string // types of parts with text
	cut   bool     // the longest text may be cut; otherwise a list is left alone
	shell bool     // a part may hold the two outputs of a command
	kind  tokens.Kind
}

// How the formats write content.
var (
	textParts = parts{texts: []string{"text"}, kind: tokens.Prose}
	// For Messages, and for results in chat completions.
	resultParts = parts{texts: []string{"text"}, cut: true, kind: tokens.Code}
	// For messages in Responses.
	itemParts = parts{texts: []string{"input_text", "output_text", "text"}, kind: tokens.Prose}
	// For results in Responses.
	outputParts = parts{texts: []string{"input_text", "output_text", "text"}, cut: true, shell: true, kind: tokens.Code}
)

// toolReference is a part with a tool's definition. A result with such a part is not cut.
const toolReference = "tool_reference"

// maxMedia limits the size of a part that is no text: the data of an image says nothing about its
// tokens.
const maxMedia = 4000

// readContent reads a string or a list of parts. The caller adds the size of the string that can be
// cut.
func (m *Message) readContent(r *reader, as parts) {
	d := newDigest()
	switch r.peek() {
	case '"':
		m.content, m.Chars = r.text()
		m.text = m.content
		d.write(m.content.of(r.doc))
	case '[':
		whole := false
		for r.list(); r.part(); {
			whole = m.readPart(r, &d, as) || whole
		}
		if whole && m.content.end > 0 {
			m.addRest(r, m.content, as)
			m.content, m.Chars = span{}, 0
		}
	default:
		d.write(r.value().of(r.doc))
	}
	m.said = d
}

// readPart reads a part. It returns true if nothing beside it may be cut.
func (m *Message) readPart(r *reader, d *digest, as parts) (whole bool) {
	if r.peek() != '{' {
		at := r.value()
		d.write([]byte("part"))
		d.write(at.of(r.doc))
		m.size.add(idSize(min(at.end-at.start, maxMedia)))
		return false
	}
	at := span{start: r.pos()}
	var kind []byte
	var text [3]span // the text, or a shell's two outputs
	var chars [3]int
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		isString := r.peek() == '"'
		switch word := decoded(name); {
		case string(word) == "type" && isString:
			kind = decoded(r.value().of(r.doc))
		case string(word) == "text" && isString:
			text[0], chars[0] = r.text()
		case as.shell && string(word) == "stdout" && isString:
			text[1], chars[1] = r.text()
		case as.shell && string(word) == "stderr" && isString:
			text[2], chars[2] = r.text()
		case as.shell && string(word) == "outcome":
			m.IsError = m.IsError || isBadOutcome(r.value().of(r.doc))
		case string(word) == "cache_control", string(word) == "prompt_cache_breakpoint":
			m.mark = markOf(r.value().of(r.doc))
		default:
			r.value()
		}
	}
	at.end = r.pos()
	switch {
	case text[0].end > 0 && as.isText(kind):
		d.write(text[0].of(r.doc))
		m.addText(r, text[0], chars[0], as)
	case kind == nil && (text[1].end > 0 || text[2].end > 0):
		d.write(at.of(r.doc))
		m.addText(r, text[1], chars[1], as)
		m.addText(r, text[2], chars[2], as)
	default:
		d.write(at.of(r.doc))
		rest := idSize(min(at.end-at.start, maxMedia))
		m.size.add(rest)
		m.rest.add(rest)
		return string(kind) == toolReference
	}
	return false
}

func (as parts) isText(kind []byte) bool {
	return slices.Contains(as.texts, string(kind))
}

// addText adds a text of a list of parts. The longest one can be cut.
func (m *Message) addText(r *reader, text span, chars int, as parts) {
	if text.end == 0 {
		return
	}
	if m.text.end == 0 {
		m.text = text
	}
	switch {
	case !as.cut:
		m.size.add(estimate(text.of(r.doc), as.kind))
		return
	case chars <= m.Chars && m.content.end > 0:
		m.addRest(r, text, as)
		return
	case m.content.end > 0:
		m.addRest(r, m.content, as)
	}
	m.content, m.Chars = text, chars
}

// addRest adds a text that cannot be cut.
func (m *Message) addRest(r *reader, text span, as parts) {
	rest := estimate(text.of(r.doc), as.kind)
	m.size.add(rest)
	m.rest.add(rest)
}
