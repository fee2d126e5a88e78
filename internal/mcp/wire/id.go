package wire

import (
	"strconv"

	"secateur/internal/rawjson"
)

// An ID names a request: a JSON string or number, kept as its JSON text. The zero
// value is no id. Two IDs that are == have the same text; use Same or Key to
// compare what they say.
type ID struct{ text string }

// NumberID returns the ID that is the number n.
func NumberID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the ID that is the string s.
func StringID(s string) ID { return ID{string(rawjson.AppendQuoted(nil, s))} }

// IDOf returns the ID that a well-formed JSON value is; the zero ID if it is
// neither a string nor a number.
func IDOf(raw []byte) ID {
	if len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return ID{string(raw)}
	}
	return ID{}
}

// IsZero tells whether there is no id.
func (a ID) IsZero() bool { return a.text == "" }

// String returns the id as JSON text, "null" where there is none.
func (a ID) String() string {
	if a.text == "" {
		return "null"
	}
	return a.text
}

// Append appends the id as JSON text, null where there is none.
func (a ID) Append(dst []byte) []byte { return append(dst, a.String()...) }

// Same tells whether a and b are of one JSON type and say exactly the same: 1 and
// 1.0, "a" and "\u0061". No id is the same as no id only.
func (a ID) Same(b ID) bool { return a.text == b.text || a.Key() == b.Key() }

// Key returns a text that IDs have in common if and only if they are the Same, for
// use in maps.
func (a ID) Key() string {
	switch {
	case a.text == "":
		return ""
	case a.text[0] == '"':
		return `"` + rawjson.Unquote([]byte(a.text))
	}
	return canonicalNumber(a.text)
}
