package downstream

// AppendEvent is appendEvent for tests of the wire format.

func AppendEvent(dst []byte, stream, message uint64, msg []byte) []byte {
	return appendEvent(dst, eventID{stream, message}, msg)
}

func AppendPriming(dst []byte, stream, message uint64) []byte {
	return appendPriming(dst, eventID{stream, message})
}

func ReadPlace(id string) (stream, message uint64, ok bool) {
	p, ok := readEventID(id)
	return p.stream, p.message, ok
}

// Accepts returns what an Accept header admits.
func Accepts(values ...string) (json, stream bool) {
	a := readAccept(map[string][]string{"Accept": values})
	return a.json, a.stream
}
