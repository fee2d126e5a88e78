package toolserver

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// Violation is one way in which arguments do not fit their schema.
type Violation struct {
	Path    string // JSON Pointer into the arguments
	Keyword string // of the schema: "type", "minimum", "required", …
	Message string // for the author of the arguments
}

const (
	// maxViolations limits an answer. Longer lists are rarely read to the end.
	maxViolations = 20
	// maxItems limits the length of a list in one call.
	maxItems = 10_000
)

// Check returns the violations in a value in document order; none if it fits. The value must be
// valid JSON.
func (s *Schema) Check(value []byte) []Violation { return s.check(value, nil) }

// check is Check without the violations that spared accepts.
func (s *Schema) check(value []byte, spared func(Violation) bool) []Violation {
	c := checker{spared: spared}
	c.value(s, value, "")
	return c.found
}

type checker struct {
	spared func(Violation) bool // nil: none
	found  []Violation
}

func (c *checker) add(path, keyword, format string, args ...any) {
	if len(c.found) >= maxViolations {
		return
	}
	v := Violation{Path: path, Message: fmt.Sprintf(format, args...), Keyword: keyword}
	if c.spared == nil || !c.spared(v) {
		c.found = append(c.found, v)
	}
}

func (c *checker) value(s *Schema, raw []byte, path string) {
	kind := kindOf(raw)
	if !fits(s.Type, kind) {
		c.add(path, "type", "must be %s, not %s", article(s.Type), article(kind))
		return
	}
	switch kind {
	case "number":
		c.number(s, raw, path)
	case "string":
		if s.Enum != nil && !slices.Contains(s.Enum, rawjson.Unquote(raw)) {
			c.add(path, "enum", "must be one of %s", strings.Join(s.Enum, ", "))
		}
	case "object":
		c.object(s, raw, path)
	case "array":
		c.array(s, raw, path)
	}
}

func (c *checker) number(s *Schema, raw []byte, path string) {
	// out of range gives an infinity, which compares correctly
	n, _ := strconv.ParseFloat(string(raw), 64)
	switch {
	case s.Type == "integer" && n != math.Trunc(n):
		c.add(path, "type", "must be an integer, not %s", short(string(raw)))
	case s.Minimum != nil && n < *s.Minimum:
		c.add(path, "minimum", "must be at least %v, not %s", *s.Minimum, short(string(raw)))
	case s.Maximum != nil && n > *s.Maximum:
		c.add(path, "maximum", "must be at most %v, not %s", *s.Maximum, short(string(raw)))
	}
}

func (c *checker) object(s *Schema, raw []byte, path string) {
	missing := slices.Clone(s.Required)
	for key, at := range rawjson.Members(raw) {
		name, value := string(key), at.Of(raw)
		if i := slices.Index(missing, name); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
		if sub, known := s.Properties[name]; known {
			c.value(sub, value, path+"/"+pointer(name))
		} else if s.closed() {
			c.add(path+"/"+pointer(name), "additionalProperties", "is not a known argument; known: %s", s.names())
		}
	}
	for _, name := range missing {
		c.add(path+"/"+pointer(name), "required", "is missing")
	}
}

func (c *checker) array(s *Schema, raw []byte, path string) {
	if s.Items == nil {
		return
	}
	i := 0
	for item := range rawjson.Items(raw) {
		if i == maxItems {
			c.add(path, "maxItems", "has more than %d items", maxItems)
			return
		}
		c.value(s.Items, item, path+"/"+strconv.Itoa(i))
		i++
	}
}

// kindOf returns the JSON type of a value.
func kindOf(raw []byte) string {
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

func fits(want, kind string) bool {
	if want == "integer" {
		want = "number"
	}
	return want == "" || want == kind
}

func article(kind string) string {
	switch kind {
	case "integer", "object", "array":
		return "an " + kind
	case "null":
		return kind
	}
	return "a " + kind
}

// pointer escapes a name for a JSON Pointer and shortens a long one.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(short(name))
}

// short shortens a caller's text for an answer.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
