package era

import (
	"bytes"
	"slices"

	"secateur/internal/rawjson"
)

// An edit puts a text in the place of a stretch of a document, which may be of no
// length.
type edit struct {
	at   span
	with []byte
}

// edited returns a document with edits made to it, which do not overlap; the same
// slice if there are none.
func edited(doc []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return doc
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at.start - b.at.start })
	size := len(doc)
	for _, e := range edits {
		size += len(e.with) - (e.at.end - e.at.start)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, e := range edits {
		out = append(out, doc[done:e.at.start]...)
		out = append(out, e.with...)
		done = e.at.end
	}
	return append(out, doc[done:]...)
}

// removal finds what has to go for an object to lose members: each with the comma
// that it no longer needs.
type removal struct {
	edits []edit
	kept  bool // a member stays
	first int  // where the members start that went before any stayed; -1 where none did
	last  int  // where the last member ended
}

func newRemoval() removal { return removal{first: -1} }

// keep tells of a member that stays.
func (r *removal) keep(m member) {
	if !r.kept && r.first >= 0 {
		r.edits = append(r.edits, edit{at: span{r.first, m.name.start}})
	}
	r.kept, r.last = true, m.value.end
}

// drop tells of a member that goes.
func (r *removal) drop(m member) {
	switch {
	case r.kept:
		r.edits = append(r.edits, edit{at: span{r.last, m.value.end}})
	case r.first < 0:
		r.first = m.name.start
	}
	r.last = m.value.end
}

// finish returns the edits. Empty tells that nothing is left of what there was.
func (r *removal) finish() (edits []edit, empty bool) {
	empty = !r.kept && r.first >= 0
	if empty {
		r.edits = append(r.edits, edit{at: span{r.first, r.last}})
	}
	return r.edits, empty
}

// without returns an object less the members that go by some names; the same slice
// where it has none of them.
func without(doc []byte, names ...string) []byte {
	edits, _ := removing(doc, names)
	return edited(doc, edits)
}

// removing returns the edits that without makes, and whether nothing is left of what
// there was.
func removing(doc []byte, names []string) (edits []edit, empty bool) {
	r := newRemoval()
	eachMember(doc, func(name []byte, m member) {
		if index(names, name) >= 0 {
			r.drop(m)
		} else {
			r.keep(m)
		}
	})
	return r.finish()
}

// withoutInner is without for the object that a member of an object is. The member
// goes too where nothing is left of it.
func withoutInner(doc []byte, outer string, names ...string) []byte {
	r := newRemoval()
	var inside []edit
	eachMember(doc, func(name []byte, m member) {
		if string(name) != outer {
			r.keep(m)
			return
		}
		edits, empty := removing(m.value.of(doc), names)
		if empty {
			r.drop(m)
			return
		}
		r.keep(m)
		for _, e := range edits {
			inside = append(inside, edit{at: span{m.value.start + e.at.start, m.value.start + e.at.end}})
		}
	})
	edits, _ := r.finish()
	return edited(doc, append(edits, inside...))
}

// appending returns the edit that puts members, written as JSON without braces, at
// the end of the object that ends at an offset of a document.
func appending(doc []byte, end int, members []byte) edit {
	brace := end - 1
	if !bytes.HasSuffix(bytes.TrimRight(doc[:brace], " \t\r\n"), []byte{'{'}) {
		members = append([]byte{','}, members...)
	}
	return edit{span{brace, brace}, members}
}

// end returns the offset just past the value that a document is.
func end(doc []byte) int { return len(bytes.TrimRight(doc, " \t\r\n")) }

// appendMember appends a member to others written as JSON without braces.
func appendMember(dst []byte, name string, value []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = rawjson.AppendQuoted(dst, name)
	return append(append(dst, ':'), value...)
}
