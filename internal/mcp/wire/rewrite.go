package wire

import (
	"slices"

	"secateur/internal/rawjson"
)

// A Rewrite says which values of a message to replace. Zero fields, and values that the message
// lacks, change nothing.
type Rewrite struct {
	ID            ID // the message's id
	ProgressToken ID // the value that ProgressToken returns
	RequestID     ID // params.requestId of a notifications/cancelled
	// Meta holds members to add to params._meta, as JSON without braces: `"a":1,"b":{}`. They
	// replace members of the same name. Missing params and _meta are created. If params is an
	// array, Meta is ignored.
	Meta []byte
}

// AppendWithID appends the message with a different id.
func (m *Message) AppendWithID(dst []byte, id ID) []byte {
	return m.AppendRewritten(dst, Rewrite{ID: id})
}

// AppendWithMeta appends the message with members added to params._meta; see Rewrite.
func (m *Message) AppendWithMeta(dst, members []byte) []byte {
	return m.AppendRewritten(dst, Rewrite{Meta: members})
}

// AppendRewritten appends the message with the replacements applied. Everything else is copied byte
// for byte.
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

// appendIDEdit adds the edit that writes an ID at a span. It adds nothing if the ID or the span is
// zero, or if the span already has an edit.
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

// mergeMeta adds the edits that merge an object's members into params._meta. A member replaces the
// one of the same name; new members are appended.
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

// newParams returns the edit that adds params to a message without any.
func (m *Message) newParams(params []byte) rawjson.Edit {
	if null := m.at[atNullParams]; !null.IsZero() {
		return rawjson.Edit{Span: null, New: params}
	}
	return rawjson.Insert(m.Raw, rawjson.Span{End: len(m.Raw)}, join(`"params":`, params, ""))
}

func join(before string, middle []byte, after string) []byte {
	return slices.Concat([]byte(before), middle, []byte(after))
}
