package toolserver

import (
	"iter"
	"math"
	"strconv"

	"secateur/internal/rawjson"
)

// Arguments are the members of a JSON object by name, each raw. The methods read a member that fits its schema;
// of one that is absent, or of another kind, they return the zero value.
type Arguments map[string][]byte

// Read takes an object apart. Anything but an object has no members.
func Read(object []byte) Arguments {
	a := Arguments{}
	for name, at := range rawjson.Members(object) {
		a[string(name)] = at.Of(object)
	}
	return a
}

// Has reports whether there is such a member and it is not null.
func (a Arguments) Has(name string) bool { return !rawjson.IsNothing(a[name]) }

// Text is a string member, in WTF-8.
func (a Arguments) Text(name string) string {
	text, _ := rawjson.Text(a[name])
	return text
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
func (a Arguments) Items(name string) iter.Seq[[]byte] { return rawjson.Items(a[name]) }
