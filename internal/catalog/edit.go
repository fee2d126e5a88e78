package catalog

// An Edit replaces a stretch of a document.
type Edit struct {
	Start, End int
	New        []byte

	role role // while it is not known whether the edit is to be made
}

// Apply appends a document with edits made to it, which are in its order and do
// not overlap.
func Apply(dst, doc []byte, edits []Edit) []byte {
	at := 0
	for i := range edits {
		dst = append(dst, doc[at:edits[i].Start]...)
		dst = append(dst, edits[i].New...)
		at = edits[i].End
	}
	return append(dst, doc[at:]...)
}

// edited returns a document with edits made to it, itself if there are none.
func edited(doc []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return doc
	}
	size := len(doc)
	for i := range edits {
		size += len(edits[i].New) - (edits[i].End - edits[i].Start)
	}
	return Apply(make([]byte, 0, size), doc, edits)
}
