package rawjson

// nameSet remembers names by what is quickly said of them: length, first and last
// byte. Different names may be the same to it.
type nameSet struct {
	bits [16]uint64
	odd  bool // there was one that is not plain ASCII, or is written with escapes: it may be any
}

// add takes in a name of n raw bytes; of an empty one the quotes are its first and
// last byte.
func (s *nameSet) add(first, last byte, n int, odd bool) {
	i := nameHash(first, last, n)
	s.bits[i/64] |= 1 << (i % 64)
	s.odd = s.odd || odd
}

// may tells whether a name may be among them.
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
