package wire

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
	edits := m.metaEdits(make([]rawjson.Edit, 0, 8), r.Meta)
	edits = appendIDEdit(edits, m.at[atID], r.ID)
	if m.ProgressToken() != nil {
		edits = appendIDEdit(edits, m.tokenSpan(), r.ProgressToken)
	}
	if !m.RequestID().IsZero() {
		edits = appendIDEdit(edits, m.at[atRequestID], r.RequestID)
	}
	rawjson.SortEdits(edits)
	return rawjson.Apply(dst, m.Raw, edits)
}

// appendIDEdit adds the edit that puts an ID in a place, unless there is no ID, no
// such place, or an edit for it already.
func appendIDEdit(edits []rawjson.Edit, at rawjson.Span, id ID) []rawjson.Edit {
	if id.IsZero() || at.IsZero() || slices.ContainsFunc(edits, func(e rawjson.Edit) bool { return e.Span == at }) {
		return edits
	}
	return append(edits, rawjson.Edit{Span: at, New: []byte(id.text)})
}

// metaEdits adds the edits that put members into params._meta.
func (m *Message) metaEdits(edits []rawjson.Edit, members []byte) []rawjson.Edit {
	params, meta := m.at[atParams], m.at[atMeta]
	switch {
	case len(members) == 0 || m.Params != nil && m.Params[0] != '{':
		return edits
	case params.IsZero():
		return append(edits, m.newParams(join(`{"_meta":{`, members, `}}`)))
	case meta.IsZero():
		return append(edits, rawjson.Insert(m.Raw, params, join(`"_meta":{`, members, `}`)))
	case m.Raw[meta.Start] != '{':
		return append(edits, rawjson.Edit{Span: meta, New: join(`{`, members, `}`)})
	}
	return m.mergeMeta(edits, meta, join(`{`, members, `}`))
}

// mergeMeta adds the edits that put the members of an object into the object that
// params._meta is, each in the place of the member of its name or, if there is
// none, last.
func (m *Message) mergeMeta(edits []rawjson.Edit, meta rawjson.Span, add []byte) []rawjson.Edit {
	have := make(map[string]rawjson.Span)
	for name, at := range rawjson.Members(meta.Of(m.Raw)) {
		have[string(name)] = at.Within(meta)
	}
	var fresh rawjson.Object
	for name, value := range rawjson.Members(add) {
		if at, ok := have[string(name)]; ok {
			edits = append(edits, rawjson.Edit{Span: at, New: value.Of(add)})
		} else {
			fresh.Raw(string(name), value.Of(add))
		}
	}
	if len(fresh) > 0 {
		edits = append(edits, rawjson.Insert(m.Raw, meta, fresh))
	}
	return edits
}

// newParams returns the edit that gives params to a message that has none.
func (m *Message) newParams(params []byte) rawjson.Edit {
	if null := m.at[atNullParams]; !null.IsZero() {
		return rawjson.Edit{Span: null, New: params}
	}
	return rawjson.Insert(m.Raw, rawjson.Span{End: len(m.Raw)}, join(`"params":`, params, ""))
}

func join(before string, middle []byte, after string) []byte {
	return slices.Concat([]byte(before), middle, []byte(after))
}
