package wire

import (
	"strconv"

	"secateur/internal/rawjson"
)

// An ID identifies a request. It is a JSON string or number, kept as its JSON text. The zero value
// means no id. The operator == compares the texts; use Same or Key to compare the values.
type ID struct{ text string }

// NumberID returns the ID for the number n.
func NumberID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the ID for the string s.
func StringID(s string) ID { return ID{string(rawjson.AppendQuoted(nil, s))} }

// IDOf returns the ID for a well-formed JSON value. It is zero if the value is neither a string nor
// a number.
func IDOf(raw []byte) ID {
	if len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return ID{string(raw)}
	}
	return ID{}
}

// IsZero reports whether the ID is the zero value: no id.
func (a ID) IsZero() bool { return a.text == "" }

// String returns the id as JSON text, "null" for the zero ID.
func (a ID) String() string {
	if a.text == "" {
		return "null"
	}
	return a.text
}

// Append appends the id as JSON text, null for the zero ID.
func (a ID) Append(dst []byte) []byte { return append(dst, a.String()...) }

// Same reports whether a and b have the same JSON type and value, like 1 and 1.0, or "a" and
// "\u0061". The zero ID is the same only as itself.
func (a ID) Same(b ID) bool { return a.text == b.text || a.Key() == b.Key() }

// Key returns a map key: two IDs have equal keys if and only if they are the Same.
func (a ID) Key() string {
	switch {
	case a.text == "":
		return ""
	case a.text[0] == '"':
		return `"` + rawjson.Unquote([]byte(a.text))
	}
	return canonicalNumber(a.text)
}
