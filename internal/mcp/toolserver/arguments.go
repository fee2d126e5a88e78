package toolserver

import (
	"iter"
	"math"
	"strconv"

	"secateur/internal/rawjson"
)

// Arguments are the raw members of a JSON object by name. The methods read a member that fits its
// schema. For an absent member, or one of another type, they return the zero value.
type Arguments map[string][]byte

// Read splits an object into members. Any other value has none.
func Read(object []byte) Arguments {
	a := Arguments{}
	for name, at := range rawjson.Members(object) {
		a[string(name)] = at.Of(object)
	}
	return a
}

// Has reports whether the member is present and not null.
func (a Arguments) Has(name string) bool { return !rawjson.IsNothing(a[name]) }

// Text returns a string member in WTF-8.
func (a Arguments) Text(name string) string {
	text, _ := rawjson.Text(a[name])
	return text
}

// Number returns a number member.
func (a Arguments) Number(name string) float64 {
	n, _ := strconv.ParseFloat(string(a[name]), 64) // out of range gives an infinity, as wanted
	return n
}

// Integer returns a number member as an integer, clamped to the range of int.
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

// Bool returns a boolean member.
func (a Arguments) Bool(name string) bool { return string(a[name]) == "true" }

// Object returns an object member.
func (a Arguments) Object(name string) Arguments { return Read(a[name]) }

// Items returns the elements of an array member.
func (a Arguments) Items(name string) iter.Seq[[]byte] { return rawjson.Items(a[name]) }
