package rawjson

import (
	"bytes"
	"iter"
)

// Members goes over the members of an object that has been checked: what each name
// says, and where its value stands. Any other value has none.
func Members(doc []byte) iter.Seq2[[]byte, Span] {
	return func(yield func(name []byte, value Span) bool) {
		c := Cursor{doc: doc}
		if c.Peek() != '{' {
			return
		}
		for c.Enter(); !c.Done(); {
			name := c.Name()
			if !yield(name, c.Value()) {
				return
			}
		}
	}
}

// Items goes over the values of an array that has been checked. Any other value has
// none.
func Items(doc []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		c := Cursor{doc: doc}
		if c.Peek() != '[' {
			return
		}
		for c.Enter(); !c.Done(); {
			if !yield(c.Raw()) {
				return
			}
		}
	}
}

// Find returns where the value of a member stands in an object; the zero Span where
// there is none. Of a name that comes twice, which only servers may send, the last
// one counts.
func Find(doc []byte, name string) (found Span) {
	c := Cursor{doc: doc}
	if c.Peek() != '{' {
		return Span{}
	}
	for c.Enter(); !c.Done(); {
		is := string(c.Name()) == name
		if at := c.Value(); is {
			found = at
		}
	}
	return found
}

// FindAll is Find for several names, in one pass.
func FindAll(doc []byte, names ...string) []Span {
	found := make([]Span, len(names))
	for name, at := range Members(doc) {
		if i := indexOf(names, name); i >= 0 {
			found[i] = at
		}
	}
	return found
}

// Get returns the raw value of a member of an object, nil where there is none.
func Get(doc []byte, name string) []byte { return Find(doc, name).Of(doc) }

// GetText returns what a member of an object says, "" where it is no string.
func GetText(doc []byte, name string) string { return string(Word(Get(doc, name))) }

// indexOf returns the index of a name, -1 where it is not among them.
func indexOf(names []string, name []byte) int {
	for i := range names {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// Text returns what a raw value says if it is a string.
func Text(raw []byte) (string, bool) {
	w := Word(raw)
	return string(w), w != nil
}

// Word is Text as bytes, which are the document's own where they can be; nil for
// what is no string.
func Word(raw []byte) []byte {
	switch {
	case len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"':
		return nil
	case bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	case Check(raw, 0) != nil:
		return nil
	}
	return []byte(Unquote(raw))
}

// IsString tells whether a raw value is a string.
func IsString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// IsObject tells whether a document is an object.
func IsObject(doc []byte) bool {
	doc = Trim(doc)
	return len(doc) >= 2 && doc[0] == '{' && doc[len(doc)-1] == '}'
}

// IsNothing tells whether a raw value is absent or null, which many write for absent.
func IsNothing(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
