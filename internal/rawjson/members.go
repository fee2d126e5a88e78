package rawjson

import (
	"bytes"
	"iter"
)

// Members iterates over the members of a checked object: decoded name, and span of the value. Other
// values have none.
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

// Items iterates over the values of a checked array. Other values have none.
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

// Find returns the span of a member's value in an object, or the zero Span. If a name occurs twice,
// which only servers may send, the last one counts.
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

// Get returns the raw value of a member of an object, or nil.
func Get(doc []byte, name string) []byte { return Find(doc, name).Of(doc) }

// GetText returns the decoded string of a member of an object, or "" if it is not a string.
func GetText(doc []byte, name string) string { return string(Word(Get(doc, name))) }

// indexOf returns the index of a name, or -1.
func indexOf(names []string, name []byte) int {
	for i := range names {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// Text decodes a raw value if it is a string.
func Text(raw []byte) (string, bool) {
	w := Word(raw)
	return string(w), w != nil
}

// Word is Text as bytes, without copying if possible; nil if raw is not a string.
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

// IsString reports whether a raw value is a string.
func IsString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// IsObject reports whether a document is an object.
func IsObject(doc []byte) bool {
	doc = Trim(doc)
	return len(doc) >= 2 && doc[0] == '{' && doc[len(doc)-1] == '}'
}

// IsNothing reports whether a raw value is absent or null, which many write for absent.
func IsNothing(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
