package toolserver

import (
	"iter"
	"maps"
	"math"
	"strconv"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

// Arguments are the members of a JSON object by name, each raw. The methods read a member that fits its schema;
// of one that is absent, or of another kind, they return the zero value.
type Arguments map[string][]byte

// Read takes an object apart. Anything but an object has no members.
func Read(object []byte) Arguments {
	a := Arguments{}
	maps.Insert(a, members(object))
	return a
}

// Has reports whether there is such a member and it is not null.
func (a Arguments) Has(name string) bool {
	raw := a[name]
	return len(raw) > 0 && raw[0] != 'n'
}

// Text is a string member, in WTF-8.
func (a Arguments) Text(name string) string {
	raw := a[name]
	if !isString(raw) {
		return ""
	}
	return rawjson.Unquote(raw)
}

// Number is a number member.
func (a Arguments) Number(name string) float64 {
	n, _ := strconv.ParseFloat(string(a[name]), 64) // out of range: an infinity, which is what is wanted
	return n
}

// Integer is a number member as an integer; one beyond the integers is the nearest of them.
func (a Arguments) Integer(name string) int {
	if n, err := strconv.Atoi(string(a[name])); err == nil {
		return n
	}
	switch n := a.Number(name); {
	case n >= math.MaxInt:
		return math.MaxInt
	case n <= math.MinInt:
		return math.MinInt
	default:
		return int(n)
	}
}

// Bool is a boolean member.
func (a Arguments) Bool(name string) bool { return string(a[name]) == "true" }

// Object is an object member.
func (a Arguments) Object(name string) Arguments { return Read(a[name]) }

// Items is an array member.
func (a Arguments) Items(name string) iter.Seq[[]byte] { return items(a[name]) }

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// members walks an object. It stops early at what is not well-formed, which the door has refused long before.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !isObject(object) {
			return
		}
		s := rawjson.NewScanner(object, rpc.MaxRequestDepth)
		if s.Enter() != nil {
			return
		}
		for {
			name, err := s.Next()
			if err != nil || name == nil {
				return
			}
			value, err := s.Skip()
			if err != nil || !yield(rawjson.Unquote(name), value) {
				return
			}
		}
	}
}

// items walks an array. It stops early as members does.
func items(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(array) == 0 || array[0] != '[' {
			return
		}
		for rest := rawjson.Trim(array[1:]); len(rest) > 0 && rest[0] != ']'; {
			s := rawjson.NewScanner(rest, rpc.MaxRequestDepth)
			item, err := s.Skip()
			if err != nil || !yield(item) {
				return
			}
			if s.Peek() != ',' {
				return
			}
			rest = rest[s.Pos()+1:]
		}
	}
}
