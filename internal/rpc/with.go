package rpc

import (
	"slices"

	"secateur/internal/rawjson"
)

// WithID returns the message with another id, in a document of its own. A message
// without an id is returned as it is.
func (m *Message) WithID(id ID) Message {
	if m.at[atID].empty() || id.IsZero() {
		return *m
	}
	out, at := m.replaced(m.at[atID], []byte(id.text))
	out.at[atID], out.ID = at, id
	return out
}

// SetID gives the message another id within its own document, whose bytes it changes:
// what stands before the id moves, into memory of the slice that the document was
// read from where the id is longer. It reports false, and has changed nothing, where
// there is no room for that or the message has no id.
func (m *Message) SetID(in []byte, id ID) bool {
	was := m.at[atID]
	shift := len(id.text) - (was.end - was.start)
	start := cap(in) - cap(m.Raw) // of Raw in that slice
	if was.empty() || id.IsZero() || start < max(shift, 0) || start+len(m.Raw) > len(in) {
		return false
	}
	copy(in[start-shift:], m.Raw[:was.start])
	copy(in[start-shift+was.start:], id.text)
	m.Raw = in[start-shift : start+len(m.Raw)]
	m.move(was, shift)
	m.at[atID], m.ID = span{was.start, was.end + shift}, id
	m.slice()
	return true
}

// WithParams returns a request or notification with other params, raw JSON that is
// well-formed and has no name twice, in a document of its own; without any where
// they are nil. A response is returned as it is.
func (m *Message) WithParams(params []byte) Message {
	params = rawjson.Trim(params)
	switch {
	case m.Method == "":
		return *m
	case len(params) == 0:
		return m.withoutParams()
	}
	var out Message
	var at span
	if was := m.at[atParams]; !was.empty() {
		out, at = m.replaced(was, params)
	} else {
		e := m.newParams(params)
		out, at = m.replaced(e.at, e.text)
		at.start = at.end - len(params)
	}
	out.at[atParams] = at
	out.NoRefs = false
	out.readParams()
	return out
}

func (m *Message) withoutParams() Message {
	cut, _ := withoutMember(m.Raw, "params")
	if cut.empty() {
		return *m
	}
	out, _ := m.replaced(cut, nil)
	out.readParams()
	return out
}

// WithResult returns a response with another result, raw JSON, in a document of its
// own. Its long strings are not known. Any other message is returned as it is.
func (m *Message) WithResult(result []byte) Message { return m.withValue(atResult, result) }

// WithError returns a response with another error, a raw object, in a document of
// its own. Its long strings are not known. Any other message is returned as it is.
func (m *Message) WithError(object []byte) Message { return m.withValue(atError, object) }

func (m *Message) withValue(which int, value []byte) Message {
	if m.at[which].empty() {
		return *m
	}
	out, at := m.replaced(m.at[which], rawjson.Trim(value))
	out.at[which] = at
	out.Noted, out.NoRefs = 0, false
	out.slice()
	return out
}

// replaced returns the message in a document that has text at a span, and where that
// stands now. What stood within the span is forgotten.
func (m *Message) replaced(was span, text []byte) (Message, span) {
	out := *m
	shift := len(text) - (was.end - was.start)
	out.Raw = slices.Concat(m.Raw[:was.start], text, m.Raw[was.end:])
	out.move(was, shift)
	out.slice()
	return out, span{was.start, was.end + shift}
}

// move corrects where everything stands after the text at a span has changed its
// length.
func (m *Message) move(was span, shift int) {
	for i, s := range m.at {
		m.at[i] = s.moved(was, shift)
	}
	long := m.Long
	m.Long = nil
	for _, s := range long {
		if at := (span{s.Start, s.End}).moved(was, shift); !at.empty() {
			s.Start, s.End = at.start, at.end
			m.Long = append(m.Long, s)
		}
	}
}

// moved returns where something stands after the text at another span has changed
// its length; nothing if it stood within.
func (s span) moved(was span, shift int) span {
	switch {
	case s.empty() || s.end <= was.start:
		return s
	case s.start >= was.end:
		return span{s.start + shift, s.end + shift}
	case s.start < was.start:
		return span{s.start, s.end + shift}
	}
	return span{}
}

// readParams finds what is of interest in the params, which are new.
func (m *Message) readParams() {
	m.slice()
	var e envelope
	s := rawjson.NewScanner(m.Params, MaxResultDepth)
	_, _ = object(&s, func(name string) error { return e.readParam(&s, name) })
	m.Name, m.URI, m.Task = e.Name, e.URI, e.Task
	for i := range e.at {
		if !e.at[i].empty() {
			at := m.at[atParams].start
			m.at[i] = span{at + e.at[i].start, at + e.at[i].end}
		}
	}
}
