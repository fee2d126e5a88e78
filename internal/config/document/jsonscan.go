package document

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// PlainJSON replaces // and /* */ comments and commas before a closing bracket by spaces. All
// offsets stay the same. Line ends stay. An unclosed comment is left for the parser to refuse.
func PlainJSON(data []byte) []byte {
	plain, _ := plainJSON(data)
	return plain
}

// plainJSON is PlainJSON with the offsets of the commas it replaced.
func plainJSON(data []byte) (out []byte, trailing map[int]bool) {
	out = bytes.Clone(data)
	trailing = map[int]bool{}
	comma := -1     // offset of a comma followed only by space so far
	last := byte(0) // the last byte that was neither space nor comment
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(out); i++ {
		switch c := out[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			for i++; i < len(out) && out[i] != '"' && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma, last = -1, '"'
		case '/':
			end := -1
			if rest := out[i:]; bytes.HasPrefix(rest, []byte("//")) {
				if end = bytes.IndexByte(rest, '\n'); end < 0 {
					end = len(rest)
				}
			} else if bytes.HasPrefix(rest, []byte("/*")) {
				if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
					end += len("/**/")
				}
			}
			if end < 0 {
				return out, trailing
			}
			blank(i, i+end)
			i += end - 1
		case ',':
			if comma = -1; strings.IndexByte("[{,:\x00", last) < 0 {
				comma = i
			}
			last = ','
		case '}', ']':
			if comma >= 0 {
				out[comma] = ' '
				trailing[comma] = true
			}
			comma, last = -1, c
		default:
			comma, last = -1, c
		}
	}
	return out, trailing
}

// jsonValue is a value of a JSON document with the offsets of its parts.
type jsonValue struct {
	kind       jsontext.Kind
	start, end int
	elements   []jsonElement // members of an object, items of an array
}

// jsonElement is a member or an item.
type jsonElement struct {
	name  string // of a member
	start int    // of the name, or of the item
	comma int    // after the value; -1: none
	value jsonValue
}

var errNoObject = errors.New("expected { … }")

// parseJSON reads a document whose root is an object, three levels deep, down to the keys of an
// entry. Deeper values are checked and skipped.
func parseJSON(data []byte) (jsonValue, error) {
	plain, trailing := plainJSON(data)
	s := &jsonScan{data: plain, trailing: trailing, dec: jsontext.NewDecoder(bytes.NewBuffer(plain))}
	root, err := s.value(3)
	if err != nil {
		return root, err
	}
	if _, err = s.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return root, errors.New("there is something after the end of the document")
	}
	if root.kind != jsontext.KindBeginObject {
		return root, errNoObject
	}
	return root, nil
}

type jsonScan struct {
	data     []byte
	trailing map[int]bool
	dec      *jsontext.Decoder
}

func (s *jsonScan) value(levels int) (jsonValue, error) {
	v := jsonValue{kind: s.dec.PeekKind()}
	isObject := v.kind == jsontext.KindBeginObject
	if levels == 0 || !isObject && v.kind != jsontext.KindBeginArray {
		raw, err := s.dec.ReadValue()
		v.end = int(s.dec.InputOffset())
		v.start = v.end - len(raw)
		return v, err
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return v, err
	}
	v.start = int(s.dec.InputOffset()) - 1
	for k := s.dec.PeekKind(); k != jsontext.KindEndObject && k != jsontext.KindEndArray; k = s.dec.PeekKind() {
		e := jsonElement{comma: -1}
		if isObject {
			name, err := s.dec.ReadToken()
			if err != nil {
				return v, err
			}
			e.name = name.String()
			end := int(s.dec.InputOffset())
			e.start = s.stringStart(end)
		}
		var err error
		if e.value, err = s.value(levels - 1); err != nil {
			return v, err
		}
		if !isObject {
			e.start = e.value.start
		}
		e.comma = s.commaAfter(e.value.end)
		v.elements = append(v.elements, e)
	}
	_, err := s.dec.ReadToken()
	v.end = int(s.dec.InputOffset())
	return v, err
}

// stringStart returns the start of the string that ends at an offset.
func (s *jsonScan) stringStart(end int) int {
	for i := end - 2; i > 0; i-- {
		if s.data[i] != '"' {
			continue
		}
		escapes := 0
		for i-1-escapes >= 0 && s.data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return 0
}

// commaAfter returns the offset of the comma after a value, including a trailing one; -1: none.
func (s *jsonScan) commaAfter(end int) int {
	for i := end; i < len(s.data); i++ {
		switch {
		case s.data[i] == ',' || s.trailing[i]:
			return i
		case strings.IndexByte(" \t\r\n", s.data[i]) < 0:
			return -1
		}
	}
	return -1
}
