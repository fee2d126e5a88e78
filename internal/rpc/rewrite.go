package rpc

import (
	"slices"

	"secateur/internal/rawjson"
)

// A Rewrite says what to replace in a message. What is zero, or what the message
// does not have, stays as it is.
type Rewrite struct {
	ID            ID // the message's own
	ProgressToken ID // what ProgressToken returns
	RequestID     ID // of a notifications/cancelled
	// Meta holds members to put into params._meta as JSON, without braces:
	// `"a":1,"b":{}`. A member of that name is replaced; params and _meta are made
	// where they are missing. Params that are an array have no place for them.
	Meta []byte
}

// AppendWithID appends the message with another id.
func (m *Message) AppendWithID(dst []byte, id ID) []byte {
	return m.AppendRewritten(dst, Rewrite{ID: id})
}

// AppendWithMeta appends the message with members put into params._meta, see
// Rewrite.
func (m *Message) AppendWithMeta(dst, members []byte) []byte {
	return m.AppendRewritten(dst, Rewrite{Meta: members})
}

// AppendRewritten appends the message with the replacements made and everything
// else as it is, byte for byte.
func (m *Message) AppendRewritten(dst []byte, r Rewrite) []byte {
	edits := m.metaEdits(make([]edit, 0, 8), r.Meta)
	edits = appendIDEdit(edits, m.at[atID], r.ID)
	if m.ProgressToken() != nil {
		edits = appendIDEdit(edits, m.tokenSpan(), r.ProgressToken)
	}
	if !m.RequestID().IsZero() {
		edits = appendIDEdit(edits, m.at[atRequestID], r.RequestID)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.start - b.at.start })
	done := 0
	for _, e := range edits {
		dst = append(dst, m.Raw[done:e.at.start]...)
		dst = append(dst, e.text...)
		done = e.at.end
	}
	return append(dst, m.Raw[done:]...)
}

// An edit puts text in the place of what stands at a span, which may be of no
// length.
type edit struct {
	at   span
	text []byte
}

// appendIDEdit adds the edit that puts an ID in a place, unless there is no ID, no
// such place, or an edit for it already.
func appendIDEdit(edits []edit, at span, id ID) []edit {
	if id.IsZero() || at.empty() || slices.ContainsFunc(edits, func(e edit) bool { return e.at == at }) {
		return edits
	}
	return append(edits, edit{at, []byte(id.text)})
}

// metaEdits adds the edits that put members into params._meta.
func (m *Message) metaEdits(edits []edit, members []byte) []edit {
	params, meta := m.at[atParams], m.at[atMeta]
	switch {
	case len(members) == 0 || m.Params != nil && m.Params[0] != '{':
		return edits
	case params.empty():
		return append(edits, m.newParams(join(`{"_meta":{`, members, `}}`)))
	case meta.empty():
		return append(edits, m.lastMember(params, join(`"_meta":{`, members, `}`)))
	case m.Raw[meta.start] != '{':
		return append(edits, edit{meta, join(`{`, members, `}`)})
	}
	return m.mergeMeta(edits, meta, join(`{`, members, `}`))
}

// mergeMeta adds the edits that put the members of an object into the object that
// params._meta is, each in the place of the member of its name or, if there is
// none, last.
func (m *Message) mergeMeta(edits []edit, meta span, add []byte) []edit {
	have := make(map[string]span)
	eachMember(meta.of(m.Raw), func(f member) {
		have[nameText(f.name)] = span{meta.start + f.at.start, meta.start + f.at.end}
	})
	var fresh []byte
	eachMember(add, func(f member) {
		if at, ok := have[nameText(f.name)]; ok {
			edits = append(edits, edit{at, f.value})
			return
		}
		if len(fresh) > 0 {
			fresh = append(fresh, ',')
		}
		fresh = append(append(append(fresh, f.name...), ':'), f.value...)
	})
	if len(fresh) > 0 {
		edits = append(edits, m.lastMember(meta, fresh))
	}
	return edits
}

// newParams returns the edit that gives params to a message that has none.
func (m *Message) newParams(params []byte) edit {
	if null := m.at[atNullParams]; !null.empty() {
		return edit{null, params}
	}
	return m.lastMember(span{0, len(m.Raw)}, join(`"params":`, params, ""))
}

// lastMember returns the edit that puts members at the end of an object.
func (m *Message) lastMember(object span, members []byte) edit {
	brace := object.end - 1
	if len(rawjson.Trim(m.Raw[object.start+1:brace])) > 0 {
		members = join(",", members, "")
	}
	return edit{span{brace, brace}, members}
}

func join(before string, middle []byte, after string) []byte {
	return slices.Concat([]byte(before), middle, []byte(after))
}
