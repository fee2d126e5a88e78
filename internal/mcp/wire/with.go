package wire

import "secateur/internal/rawjson"

// WithID returns the message with a different id, in a new document. A message without an id is
// returned unchanged.
func (m *Message) WithID(id ID) Message {
	if m.at[atID].IsZero() || id.IsZero() {
		return *m
	}
	out, at := m.replaced(m.at[atID], []byte(id.text))
	out.at[atID], out.ID = at, id
	return out
}

// SetID changes the id in place. in is the slice that the document was parsed from. The bytes
// before the id move; a longer id needs free bytes in front of the document. SetID returns false
// and changes nothing if this space is missing or the message has no id.
func (m *Message) SetID(in []byte, id ID) bool {
	was := m.at[atID]
	shift := len(id.text) - (was.End - was.Start)
	start := cap(in) - cap(m.Raw) // offset of Raw in the slice
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

// WithParams returns a request or notification with different params, in a new document. params
// must be well-formed raw JSON without duplicate names; nil removes them. A response is returned
// unchanged.
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
	out, _ := m.replaced(cuts[0].Span, nil) // names are unique
	out.readParams()
	return out
}

// WithResult returns a response with a different raw JSON result, in a new document. Its long
// strings are not recorded. Any other message is returned unchanged.
func (m *Message) WithResult(result []byte) Message { return m.withValue(atResult, result) }

// WithError returns a response with a different raw error object, in a new document. Its long
// strings are not recorded. Any other message is returned unchanged.
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

// replaced returns the message in a new document with text at a span, and the span of that text.
// Spans inside the replaced one are dropped.
func (m *Message) replaced(was rawjson.Span, text []byte) (Message, rawjson.Span) {
	out := *m
	shift := len(text) - (was.End - was.Start)
	out.Raw = rawjson.Replace(m.Raw, was, text)
	out.move(was, shift)
	out.slice()
	return out, rawjson.Span{Start: was.Start, End: was.End + shift}
}

// move adjusts all spans after the text at one span has changed its length.
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

// moved returns a span adjusted for a change of length at another span. It is zero if the span was
// inside the other.
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

// readParams records the spans and texts of new params.
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
