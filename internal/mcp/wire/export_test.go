package wire

// SameSpans tells whether all that two messages know the place of stands in the same
// place.
func SameSpans(a, b *Message) bool { return a.at == b.at }
