package rpc

import (
	"bytes"

	"secateur/internal/rawjson"
)

// A member is one of an object: its raw name and value, where the value stands in
// the object, and where the name starts.
type member struct {
	name, value []byte
	at          span
	start       int
}

// eachMember calls visit for each member of a well-formed object, which has no name
// twice.
func eachMember(object []byte, visit func(member)) {
	s := rawjson.NewScanner(object, MaxResultDepth)
	if s.Enter() != nil {
		return
	}
	for {
		before := s.Pos()
		name, err := s.Next()
		if err != nil || name == nil {
			return
		}
		value, err := s.Skip()
		if err != nil {
			return
		}
		// Before a name there is nothing but white space and a comma.
		start := before + bytes.IndexByte(object[before:], '"')
		visit(member{name, value, ending(&s, value), start})
	}
}

// memberOf returns the raw value of a member of an object, nil where there is none.
func memberOf(object []byte, name string) (value []byte) {
	eachMember(object, func(f member) {
		if nameText(f.name) == name {
			value = f.value
		}
	})
	return value
}

// withoutMember returns where an object has to be cut for it to lose a member, and
// whether it has any other. The cut is empty where there is no such member.
func withoutMember(object []byte, name string) (cut span, others bool) {
	last := 0 // where the member before ended, 0 for none
	first := false
	eachMember(object, func(f member) {
		switch {
		case nameText(f.name) != name:
			if first {
				cut.end, first = f.start, false
			}
			others = true
		case last > 0:
			cut = span{last, f.at.end}
		default:
			cut, first = span{f.start, f.at.end}, true
		}
		last = f.at.end
	})
	return cut, others
}
