package wire

// SameSpans reports whether all recorded spans of two messages are equal.
func SameSpans(a, b *Message) bool { return a.at == b.at }
