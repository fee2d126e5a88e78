package rawjson

import (
	"bytes"
	"slices"
)

// An Edit replaces a range of a document, possibly empty, by New.
type Edit struct {
	Span
	New []byte
}

// Apply appends a document with edits applied. The edits must be in document order and must not
// overlap.
func Apply(dst, doc []byte, edits []Edit) []byte {
	done := 0
	for i := range edits {
		dst = append(dst, doc[done:edits[i].Start]...)
		dst = append(dst, edits[i].New...)
		done = edits[i].End
	}
	return append(dst, doc[done:]...)
}

// Edited returns a document with edits applied, as Apply does. Without edits it returns the same
// slice.
func Edited(doc []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return doc
	}
	size := len(doc)
	for i := range edits {
		size += len(edits[i].New) - (edits[i].End - edits[i].Start)
	}
	return Apply(make([]byte, 0, size), doc, edits)
}

// SortEdits sorts edits by their position. Edits at the same position keep their order.
func SortEdits(edits []Edit) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
}

// Replace returns a document with the value at a span replaced.
func Replace(doc []byte, at Span, value []byte) []byte {
	return slices.Concat(doc[:at.Start], value, doc[at.End:])
}

// Insert returns the edit that appends members, as in an Object, to the object at a span of a
// document.
func Insert(doc []byte, object Span, members []byte) Edit {
	brace := object.End - 1
	if !bytes.HasSuffix(bytes.TrimRight(doc[object.Start:brace], " \t\r\n"), []byte{'{'}) {
		members = append([]byte{','}, members...)
	}
	return Edit{Span{brace, brace}, members}
}

// Whole returns the span of a document without the white space around it.
func Whole(doc []byte) Span {
	start := len(doc) - len(bytes.TrimLeft(doc, " \t\r\n"))
	return Span{start, len(bytes.TrimRight(doc, " \t\r\n"))}
}

// Set returns an object with a member set to a value. It replaces an existing member, else it adds
// one at the front. Anything but an object becomes one.
func Set(object []byte, name string, value []byte) []byte {
	if at := Find(object, name); !at.IsZero() {
		return Replace(object, at, value)
	}
	first := Object{'{'}
	first.Raw(name, value)
	rest := bytes.TrimLeft(object, " \t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return append(first, '}')
	}
	rest = rest[1:]
	if inner := bytes.TrimLeft(rest, " \t\r\n"); len(inner) > 0 && inner[0] != '}' {
		first = append(first, ',')
	}
	return append(first, rest...)
}

// Remove returns an object without the members of these names; the same slice if it has none.
func Remove(doc []byte, names ...string) []byte {
	edits, _ := Removal(doc, names...)
	return Edited(doc, edits)
}

// Removal returns the edits that Remove makes, and whether they remove all members.
func Removal(doc []byte, names ...string) (edits []Edit, empty bool) {
	r := removal{first: -1}
	c := Cursor{doc: doc}
	if c.Peek() != '{' {
		return nil, false
	}
	for c.Enter(); !c.Done(); {
		name, value := c.Value(), c.Value()
		if indexOf(names, Word(name.Of(doc))) >= 0 {
			r.drop(name.Start, value.End)
		} else {
			r.keep(name.Start, value.End)
		}
	}
	return r.finish()
}

// RemoveWithin is Remove for an object inside a member. It removes the member too if nothing is
// left of it.
func RemoveWithin(doc []byte, outer string, names ...string) []byte {
	r := removal{first: -1}
	c := Cursor{doc: doc}
	if c.Peek() != '{' {
		return doc
	}
	for c.Enter(); !c.Done(); {
		name, value := c.Value(), c.Value()
		if string(Word(name.Of(doc))) != outer {
			r.keep(name.Start, value.End)
			continue
		}
		inner, empty := Removal(value.Of(doc), names...)
		if empty {
			r.drop(name.Start, value.End)
			continue
		}
		r.keep(name.Start, value.End)
		for _, e := range inner {
			r.edits = append(r.edits, Edit{Span: e.Within(value)})
		}
	}
	edits, _ := r.finish()
	return Edited(doc, edits)
}

// removal collects the edits that remove members, each with the comma that becomes superfluous.
type removal struct {
	edits []Edit
	kept  bool // a member stays
	first int  // start of the members removed before any that stays; -1: none
	last  int  // end of the last member
}

// keep records a member that stays, from its name to its end.
func (r *removal) keep(start, end int) {
	if !r.kept && r.first >= 0 {
		r.edits = append(r.edits, Edit{Span: Span{r.first, start}})
	}
	r.kept, r.last = true, end
}

// drop records a member to remove.
func (r *removal) drop(start, end int) {
	switch {
	case r.kept:
		r.edits = append(r.edits, Edit{Span: Span{r.last, end}})
	case r.first < 0:
		r.first = start
	}
	r.last = end
}

// finish returns the edits, and whether they remove all members.
func (r *removal) finish() (edits []Edit, empty bool) {
	empty = !r.kept && r.first >= 0
	if empty {
		r.edits = append(r.edits, Edit{Span: Span{r.first, r.last}})
	}
	return r.edits, empty
}
