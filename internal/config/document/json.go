package document

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonStyle is the layout of a document.
type jsonStyle struct {
	newline string
	unit    string // of indentation
	oneLine bool
}

func styleOf(data []byte, root jsonValue) jsonStyle {
	s := jsonStyle{newline: newline(data), unit: "  "}
	if bytes.IndexByte(bytes.TrimSpace(data), '\n') < 0 {
		s.oneLine = len(root.elements) > 0
		return s
	}
	for _, e := range root.elements {
		line := data[lineStart(data, e.start):e.start]
		if len(line) > 0 && len(bytes.TrimLeft(line, " \t")) == 0 {
			s.unit = string(line)
			break
		}
	}
	return s
}

func insertJSON(data []byte, at Place, entry any) ([]edit, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		s := jsonStyle{newline: newline(data), unit: "  "}
		text := "{" + s.newline + s.unit + s.group(at, entry, s.unit) + s.newline + "}" + s.newline
		return []edit{{0, 0, text}}, nil
	}
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	s := styleOf(data, root)
	group, ok := root.member(at.Group)
	if !ok || group.value.kind == jsontext.KindNull {
		if ok {
			return []edit{{group.value.start, group.value.end, s.container(at, entry, indentAt(data, group.start))}}, nil
		}
		return s.appendTo(data, root, func(indent string) string { return s.group(at, entry, indent) }), nil
	}
	switch group.value.kind {
	case jsontext.KindBeginArray:
		return s.appendTo(data, group.value, func(indent string) string { return s.render(entry, indent) }), nil
	case jsontext.KindBeginObject:
		if _, taken := group.value.member(at.Name); taken {
			return nil, ErrTaken
		}
		return s.appendTo(data, group.value, func(indent string) string { return s.member(at.Name, entry, indent) }), nil
	}
	return nil, ErrInline
}

// appendTo appends an element to an object or array. element receives its indentation.
func (s jsonStyle) appendTo(data []byte, in jsonValue, element func(indent string) string) []edit {
	outer := indentAt(data, in.start)
	if len(in.elements) == 0 {
		if s.oneLine {
			return []edit{{in.start + 1, in.start + 1, element("")}}
		}
		to := in.end - 1
		from := in.start + 1 + len(bytes.TrimRight(data[in.start+1:to], " \t\r\n"))
		text := s.newline + outer + s.unit + element(outer+s.unit)
		if bytes.IndexByte(data[from:to], '\n') < 0 {
			text += s.newline + outer
		}
		return []edit{{from, from, text}}
	}
	last := in.elements[len(in.elements)-1]
	after, comma, closing := last.value.end, ",", ""
	if last.comma >= 0 {
		after, comma, closing = last.comma+1, "", ","
	}
	end, ownLine := restOfLine(data, after)
	if !ownLine {
		space := " "
		if s.oneLine && bytes.IndexByte(data, ' ') < 0 {
			space = ""
		}
		return []edit{{after, after, comma + space + compact(element("")) + closing}}
	}
	indent := outer + s.unit
	if line := data[lineStart(data, last.start):last.start]; len(bytes.TrimLeft(line, " \t")) == 0 {
		indent = string(line)
	}
	text := s.newline + indent + element(indent) + closing
	if comma == "" || end == after {
		return []edit{{end, end, comma + text}}
	}
	return []edit{{after, after, comma}, {end, end, text}}
}

// compact puts a member or an item on one line.
func compact(text string) string {
	var b bytes.Buffer
	text = string(PlainJSON([]byte(text)))
	if strings.HasPrefix(text, "{") {
		_ = json.Compact(&b, []byte(text))
		return b.String()
	}
	_ = json.Compact(&b, []byte("{"+text+"}"))
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "{"), "}")
}

// restOfLine skips spaces and comments. If the line ends after them it returns the offset of the
// line ending.
func restOfLine(data []byte, from int) (end int, ownLine bool) {
	for i := from; i < len(data); i++ {
		rest := data[i:]
		switch {
		case data[i] == '\n':
			if data[i-1] == '\r' {
				i--
			}
			return i, true
		case bytes.HasPrefix(rest, []byte("//")):
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				i += n - 1
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			i += bytes.Index(rest[2:], []byte("*/")) + 3
		case strings.IndexByte(" \t\r", data[i]) < 0:
			return from, false
		}
	}
	return from, false
}

func removeJSON(data []byte, at Place) ([]edit, error) {
	group, i, err := locateJSON(data, at)
	if err != nil {
		return nil, err
	}
	return removeElement(data, group, i), nil
}

// removeElement takes an element out of an object or array, with a comma.
func removeElement(data []byte, group jsonValue, i int) []edit {
	e := group.elements[i]
	from := group.start + 1
	if i > 0 {
		prev := group.elements[i-1]
		from = prev.comma + 1
	}
	from = lastToken(data, from, e.start)
	if e.comma >= 0 {
		end := e.comma + 1
		if len(group.elements) == 1 {
			from, end = soleSpan(data, group, from, end)
		}
		return []edit{{from, end, ""}}
	}
	if i == 0 {
		from, end := soleSpan(data, group, from, e.value.end)
		return []edit{{from, end, ""}}
	}
	comma := group.elements[i-1].comma
	return []edit{{comma, comma + 1, ""}, {from, e.value.end, ""}}
}

// lastToken returns where the white space before an element begins: after the bracket, the comma or
// the comment before it.
func lastToken(data []byte, from, start int) int {
	return from + len(bytes.TrimRight(data[from:start], " \t\r\n"))
}

// soleSpan extends the span of an only element to the whole space between its brackets, if nothing
// else is there.
func soleSpan(data []byte, group jsonValue, from, end int) (int, int) {
	if from == group.start+1 && len(bytes.TrimSpace(data[end:group.end-1])) == 0 {
		return from, group.end - 1
	}
	return from, end
}

func findJSON(data []byte, at Place) ([]byte, bool) {
	group, i, err := locateJSON(data, at)
	if err != nil {
		return nil, false
	}
	v := group.elements[i].value
	return data[v.start:v.end], true
}

func locateJSON(data []byte, at Place) (group jsonValue, index int, err error) {
	root, err := parseJSON(data)
	if err != nil {
		return group, 0, ErrNoEntry
	}
	m, ok := root.member(at.Group)
	if !ok {
		return group, 0, ErrNoEntry
	}
	group = m.value
	for i, e := range group.elements {
		if group.kind == jsontext.KindBeginObject && e.name == at.Name || group.kind == jsontext.KindBeginArray && at.Name == "" && i == at.Index {
			return group, i, nil
		}
	}
	return group, 0, ErrNoEntry
}

func (v jsonValue) member(name string) (jsonElement, bool) {
	for _, e := range v.elements {
		if v.kind == jsontext.KindBeginObject && e.name == name {
			return e, true
		}
	}
	return jsonElement{}, false
}

// group writes the whole group with one entry.
func (s jsonStyle) group(at Place, entry any, indent string) string {
	return quote(at.Group) + s.colon() + s.container(at, entry, indent)
}

func (s jsonStyle) container(at Place, entry any, indent string) string {
	inner := indent + s.unit
	if at.List {
		return s.wrap("[", "]", []string{s.render(entry, inner)}, indent)
	}
	return s.wrap("{", "}", []string{s.member(at.Name, entry, inner)}, indent)
}

func (s jsonStyle) member(name string, value any, indent string) string {
	return quote(name) + s.colon() + s.render(value, indent)
}

func (s jsonStyle) colon() string {
	if s.oneLine {
		return ":"
	}
	return ": "
}

// render writes a value whose first line is already indented.
func (s jsonStyle) render(value any, indent string) string {
	switch v := value.(type) {
	case asWritten:
		return string(v)
	case []Field:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = s.member(f.Name, f.Value, indent+s.unit)
		}
		return s.wrap("{", "}", parts, indent)
	case []string:
		parts := make([]string, len(v))
		for i, text := range v {
			parts[i] = quote(text)
		}
		return "[" + strings.Join(parts, s.comma()) + "]"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = s.render(item, indent+s.unit)
		}
		return "[" + strings.Join(parts, s.comma()) + "]"
	}
	return scalar(value)
}

func (s jsonStyle) comma() string {
	if s.oneLine {
		return ","
	}
	return ", "
}

func (s jsonStyle) wrap(opening, closing string, parts []string, indent string) string {
	if s.oneLine || len(parts) == 0 {
		return opening + strings.Join(parts, ",") + closing
	}
	inner := s.newline + indent + s.unit
	return opening + inner + strings.Join(parts, ","+inner) + s.newline + indent + closing
}

// scalar writes the values that JSON, TOML and YAML write alike: a quoted string, a number, true or
// false.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case Number:
		return string(v)
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return quote("")
}

// quote returns a JSON string, which is also a basic string in TOML and a double-quoted one in
// YAML. Characters that those two escape are escaped in JSON too, except DEL.
func quote(text string) string {
	out, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		out, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	}
	return strings.ReplaceAll(string(out), "\x7f", `\u007f`)
}
