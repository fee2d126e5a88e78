package wire

import "secateur/internal/rawjson"

// WithID returns the message with another id, in a document of its own. A message
// without an id is returned as it is.
func (m *Message) WithID(id ID) Message {
	if m.at[atID].IsZero() || id.IsZero() {
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
	shift := len(id.text) - (was.End - was.Start)
	start := cap(in) - cap(m.Raw) // of Raw in that slice
	if was.IsZero() || id.IsZero() || start < max(shift, 0) || start+len(m.Raw) > len(in) {
		return false
	}
	copy(in[start-shift:], m.Raw[:was.Start])
	copy(in[start-shift+was.Start:], id.text)
	m.Raw = in[start-shift : start+len(m.Raw)]
	m.move(was, shift)
	m.at[atID], m.ID = rawjson.Span{Start: was.Start, End: was.End + shift}, id
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
	var at rawjson.Span
	if was := m.at[atParams]; !was.IsZero() {
		out, at = m.replaced(was, params)
	} else {
		e := m.newParams(params)
		out, at = m.replaced(e.Span, e.New)
		at.Start = at.End - len(params)
	}
	out.at[atParams] = at
	out.NoRefs = false
	out.readParams()
	return out
}

func (m *Message) withoutParams() Message {
	cuts, _ := rawjson.Removal(m.Raw, "params")
	if len(cuts) == 0 {
		return *m
	}
	out, _ := m.replaced(cuts[0].Span, nil) // there is no name twice
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
	if m.at[which].IsZero() {
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
func (m *Message) replaced(was rawjson.Span, text []byte) (Message, rawjson.Span) {
	out := *m
	shift := len(text) - (was.End - was.Start)
	out.Raw = rawjson.Replace(m.Raw, was, text)
	out.move(was, shift)
	out.slice()
	return out, rawjson.Span{Start: was.Start, End: was.End + shift}
}

// move corrects where everything stands after the text at a span has changed its
// length.
func (m *Message) move(was rawjson.Span, shift int) {
	for i, s := range m.at {
		m.at[i] = moved(s, was, shift)
	}
	long := m.Long
	m.Long = nil
	for _, s := range long {
		if at := moved(rawjson.Span{Start: s.Start, End: s.End}, was, shift); !at.IsZero() {
			s.Start, s.End = at.Start, at.End
			m.Long = append(m.Long, s)
		}
	}
}

// moved returns where something stands after the text at another span has changed
// its length; nothing if it stood within.
func moved(s, was rawjson.Span, shift int) rawjson.Span {
	switch {
	case s.IsZero() || s.End <= was.Start:
		return s
	case s.Start >= was.End:
		return rawjson.Span{Start: s.Start + shift, End: s.End + shift}
	case s.Start < was.Start:
		return rawjson.Span{Start: s.Start, End: s.End + shift}
	}
	return rawjson.Span{}
}

// readParams finds what is of interest in the params, which are new.
func (m *Message) readParams() {
	m.slice()
	var e envelope
	s := rawjson.NewScanner(m.Params, MaxResultDepth)
	_, _ = object(&s, func(name string) error { return e.readParam(&s, name) })
	m.Name, m.URI, m.Task = e.Name, e.URI, e.Task
	for i := range e.at {
		if !e.at[i].IsZero() {
			m.at[i] = e.at[i].Within(m.at[atParams])
		}
	}
}
