package era

import (
	"errors"
	"fmt"
	"strings"

	"secateur/internal/rawjson"
)

// A ParamHeader is a header that repeats an argument of a tool call.
type ParamHeader struct {
	Name  string // Mcp-Param-Foo
	Value string // not encoded yet; see EncodeParam
}

// ToolHeaders lists the headers in which a tool wants arguments repeated. It is immutable.
type ToolHeaders struct {
	headers []toolHeader // in schema order
	root    branch
}

type toolHeader struct {
	name string // Mcp-Param-Foo
	path string // path of the argument, for people
}

// A branch is an object within the arguments, or an annotated argument.
type branch struct {
	inner  map[string]*branch
	header int // 1 + index of the header; 0: none
}

// ReadToolHeaders reads the x-mcp-header annotations of a tool's inputSchema. It returns nil if the
// schema has none. An error reports an invalid annotation; such a tool must not be offered over
// HTTP.
func ReadToolHeaders(tool []byte) (*ToolHeaders, error) {
	s := schemaReader{Cursor: rawjson.NewCursor(rawjson.Get(tool, "inputSchema")), seen: map[string]bool{}}
	s.schema(&s.headers.root)
	switch {
	case s.err != nil:
		return nil, s.err
	case len(s.headers.headers) == 0:
		return nil, nil
	}
	return &s.headers, nil
}

const (
	annotation  = "x-mcp-header"
	paramPrefix = "Mcp-Param-"
)

type schemaReader struct {
	rawjson.Cursor
	headers ToolHeaders
	seen    map[string]bool // names in lower case
	path    []string        // path of the current schema
	err     error           // the first error
}

// schema reads the next value, a schema, into a branch. b is nil if the schema alone does not say
// where its value occurs in the arguments.
func (s *schemaReader) schema(b *branch) {
	if s.Peek() != '{' || len(s.path) == maxNesting {
		s.Value()
		return
	}
	var header, kind rawjson.Span
	for s.Enter(); !s.Done(); {
		switch name := string(s.Name()); {
		case name == annotation:
			header = s.Value()
		case name == "type":
			kind = s.Value()
		case name == "properties" && s.Peek() == '{':
			s.properties(b)
		case schemaKeywords[name] == oneOrMore && s.Peek() == '[':
			for s.Enter(); !s.Done(); {
				s.within(name, nil)
			}
		case schemaKeywords[name] == oneOrMore:
			s.within(name, nil)
		case schemaKeywords[name] == byName && s.Peek() == '{':
			for s.Enter(); !s.Done(); {
				s.Value()
				s.within(name, nil)
			}
		default:
			s.Value()
		}
	}
	if !header.IsZero() && s.err == nil {
		s.err = s.annotate(b, header.Of(s.Doc()), kind.Of(s.Doc()))
	}
}

// properties reads the properties of an object schema.
func (s *schemaReader) properties(b *branch) {
	for s.Enter(); !s.Done(); {
		name := string(s.Name())
		if b == nil {
			s.within(name, nil)
			continue
		}
		inner := b.inner[name]
		if inner == nil {
			inner = &branch{}
		}
		s.within(name, inner)
		if inner.header != 0 || inner.inner != nil {
			if b.inner == nil {
				b.inner = map[string]*branch{}
			}
			b.inner[name] = inner
		}
	}
}

func (s *schemaReader) within(name string, b *branch) {
	s.path = append(s.path, name)
	s.schema(b)
	s.path = s.path[:len(s.path)-1]
}

// Keywords other than properties that contain schemas. The schema alone does not say where their
// values occur in the arguments.
const (
	oneOrMore = iota + 1 // a schema or an array of schemas
	byName               // an object whose values are schemas
)

var schemaKeywords = map[string]int{
	"items": oneOrMore, "prefixItems": oneOrMore, "additionalItems": oneOrMore, "unevaluatedItems": oneOrMore,
	"contains": oneOrMore, "additionalProperties": oneOrMore, "unevaluatedProperties": oneOrMore, "propertyNames": oneOrMore,
	"allOf": oneOrMore, "anyOf": oneOrMore, "oneOf": oneOrMore, "not": oneOrMore,
	"if": oneOrMore, "then": oneOrMore, "else": oneOrMore, "contentSchema": oneOrMore,
	"patternProperties": byName, "dependentSchemas": byName, "dependencies": byName, "$defs": byName, "definitions": byName,
}

// annotate adds the annotation of the schema just read.
func (s *schemaReader) annotate(b *branch, header, kind []byte) error {
	path := clip(strings.Join(s.path, "."))
	if b == nil || len(s.path) == 0 {
		return fmt.Errorf("%s %q is not on a property that can be reached through properties alone", annotation, path)
	}
	name, err := headerName(header)
	if err != nil {
		return fmt.Errorf("%s of property %q: %w", annotation, path, err)
	}
	switch string(rawjson.Word(kind)) {
	case "string", "integer", "boolean", "number":
	default:
		return fmt.Errorf("%s of property %q: its type is not string, integer, boolean or number", annotation, path)
	}
	if s.seen[name] || b.header != 0 {
		return fmt.Errorf("%s of property %q: %q is used twice", annotation, path, clip(name))
	}
	s.seen[name] = true
	s.headers.headers = append(s.headers.headers, toolHeader{name, path})
	b.header = len(s.headers.headers)
	return nil
}

// headerName returns the full header name with each word capitalized.
func headerName(raw []byte) (string, error) {
	name, ok := rawjson.Text(raw)
	if !ok || name == "" {
		return "", errors.New("is not a string, or empty")
	}
	b := []byte(paramPrefix + name)
	start := true
	for i, c := range b {
		isLower, isUpper := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z'
		switch {
		case start && isLower, !start && isUpper:
			b[i] = c ^ 0x20
		case isLower, isUpper, '0' <= c && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return "", fmt.Errorf("%q is no name of a header", clip(name))
		}
		start = c == '-'
	}
	return string(b), nil
}
