package aggregate

import (
	"slices"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

// eachMember visits the members of an object that has been checked; what is none has none.
func eachMember(object []byte, visit func(name string, value []byte)) {
	scan(object, func(name string, _, _ int, value []byte) bool {
		visit(name, value)
		return true
	})
}

// scan visits the members of an object with the places of their values until visit returns false.
func scan(object []byte, visit func(name string, start, end int, value []byte) bool) {
	s := rawjson.NewScanner(object, rpc.MaxResultDepth)
	if s.Peek() != '{' || s.Enter() != nil {
		return
	}
	for {
		key, err := s.Next()
		if err != nil || key == nil {
			return
		}
		value, err := s.Skip()
		if err != nil || !visit(rawjson.Unquote(key), s.Pos()-len(value), s.Pos(), value) {
			return
		}
	}
}

// member returns the raw value of an object's member; nil where there is none.
func member(object []byte, name string) (found []byte) {
	scan(object, func(key string, _, _ int, value []byte) bool {
		if key == name {
			found = value
		}
		return found == nil
	})
	return found
}

// textMember is member for a string; "" where there is none.
func textMember(object []byte, name string) string { return text(member(object, name)) }

// text is what a raw value says; "" where it is no string.
func text(value []byte) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	return rawjson.Unquote(value)
}

// setMember puts a value into an object, in the place of the member of that name or, if there is none, first.
func setMember(object []byte, name string, value []byte) []byte {
	at, to := -1, -1
	empty := true
	scan(object, func(key string, start, end int, _ []byte) bool {
		empty = false
		if key == name {
			at, to = start, end
		}
		return at < 0
	})
	if at >= 0 {
		return slices.Concat(object[:at], value, object[to:])
	}
	if !isObject(object) {
		object, empty = []byte("{}"), true
	}
	first := append(rawjson.AppendQuoted([]byte{'{'}, name), ':')
	first = append(first, value...)
	if !empty {
		first = append(first, ',')
	}
	return append(first, object[1:]...)
}

// isObject tells an object from any other value and from none.
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// same tells whether two slices are one and the same.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
