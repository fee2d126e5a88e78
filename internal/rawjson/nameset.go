package rawjson

// nameSet is an approximate set of names, by length, first and last byte. It may confuse different
// names.
type nameSet struct {
	bits [16]uint64
	odd  bool // contains a name with escapes or beyond ASCII, which may be any name
}

// add adds a name of n raw bytes. For an empty name, the quotes are its first and last byte.
func (s *nameSet) add(first, last byte, n int, odd bool) {
	i := nameHash(first, last, n)
	s.bits[i/64] |= 1 << (i % 64)
	s.odd = s.odd || odd
}

// may reports whether a name may be in the set.
func (s *nameSet) may(name string) bool {
	first, last := byte('"'), byte('"')
	if name != "" {
		first, last = name[0], name[len(name)-1]
	}
	i := nameHash(first, last, len(name))
	return s.odd || s.bits[i/64]>>(i%64)&1 != 0
}

func nameHash(first, last byte, n int) uint {
	return (uint(first)*31 + uint(last)*7 + uint(n)*131) % 1024
}
