package era

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// Of returns the headers for a call with these raw arguments (nil: none). Each annotated argument
// gets a header if it is present, not null and fits into a header.
func (t *ToolHeaders) Of(arguments []byte) []ParamHeader {
	if t == nil {
		return nil
	}
	var headers []ParamHeader
	for i, raw := range t.values(arguments) {
		if value, ok := headerValue(raw); ok {
			headers = append(headers, ParamHeader{t.headers[i].name, value})
		}
	}
	return headers
}

// Check compares the headers of a call with its arguments. It returns the mismatch as text for
// people, or "". get returns the raw value of a header and whether it is present.
func (t *ToolHeaders) Check(arguments []byte, get func(name string) (string, bool)) string {
	if t == nil {
		return ""
	}
	for i, raw := range t.values(arguments) {
		name, path := t.headers[i].name, t.headers[i].path
		value, expected := headerValue(raw)
		sent, _ := get(name) // empty counts as absent: some libraries drop empty headers
		got, ok := DecodeHeader(sent)
		same := expected && got == value || isNumber(raw) && (got == string(raw) || sameNumber(got, value))
		switch {
		case !ok:
			return name + " has characters that are not allowed, or broken base64"
		case sent == "" && expected && value != "":
			return fmt.Sprintf("%s is missing for the argument %q", name, path)
		case sent == "" || same:
		case expected:
			return fmt.Sprintf("%s does not match the argument %q", name, path)
		default:
			return fmt.Sprintf("%s is there, but not the argument %q", name, path)
		}
	}
	return ""
}

// values returns the raw arguments to repeat, indexed by header; nil: absent.
func (t *ToolHeaders) values(arguments []byte) [][]byte {
	found := make([][]byte, len(t.headers))
	c := rawjson.NewCursor(arguments)
	if c.Peek() == '{' {
		collect(&c, &t.root, found)
	}
	return found
}

// collect reads the next object, which corresponds to a branch, and records annotated arguments in
// found.
func collect(c *rawjson.Cursor, b *branch, found [][]byte) {
	for c.Enter(); !c.Done(); {
		inner := b.inner[string(c.Name())]
		switch {
		case inner == nil:
			c.Value()
		case inner.inner != nil && c.Peek() == '{':
			collect(c, inner, found)
		default:
			if raw := c.Raw(); inner.header != 0 {
				found[inner.header-1] = raw
			}
		}
	}
}

// maxSafe is the largest integer that every peer represents exactly.
const maxSafe = 1<<53 - 1

// headerValue returns an argument as header text.
func headerValue(raw []byte) (string, bool) {
	if s, ok := rawjson.Text(raw); ok {
		return s, true
	}
	switch {
	case string(raw) == "true", string(raw) == "false":
		return string(raw), true
	case !isNumber(raw):
		return "", false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f == math.Trunc(f) && math.Abs(f) > maxSafe {
		return "", false
	}
	return strconv.FormatFloat(f+0, 'f', -1, 64), true // adding 0 turns -0 into 0
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// sameNumber reports whether two decimals have the same value, like 42 and 42.0.
func sameNumber(a, b string) bool {
	x, okA := decimal(a)
	y, okB := decimal(b)
	return okA && okB && x == y
}

// decimal parses digits with an optional sign and at most one decimal point between digits.
func decimal(s string) (float64, bool) {
	whole, fraction, hasPoint := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	isDigits := func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	}
	if !isDigits(whole) || hasPoint && !isDigits(fraction) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
