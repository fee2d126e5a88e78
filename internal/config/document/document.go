package document

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

// Format is the language of a document.
type Format int

// The formats. JSON includes JSON with comments and trailing commas.
const (
	JSON Format = iota
	TOML
	YAML
)

// String returns the name of the format.
func (f Format) String() string { return [...]string{"JSON", "TOML", "YAML"}[f] }

// FormatOf returns the format by the file's extension. Unknown ones are recognised by the first
// character, as configurations are.
func FormatOf(path string, data []byte) Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonc":
		return JSON
	case ".toml":
		return TOML
	case ".yaml", ".yml":
		return YAML
	}
	if first := bytes.TrimSpace(data); bytes.HasPrefix(first, []byte("{")) || bytes.HasPrefix(first, []byte("/")) {
		return JSON
	}
	return TOML
}

var (
	// ErrInline means that the group is written in a form that cannot be edited here.
	ErrInline = errors.New("written in a form that cannot be edited here; change it by hand")
	// ErrNoEntry means that the entry does not exist.
	ErrNoEntry = errors.New("no such entry")
	// ErrTaken means that an entry with this name exists.
	ErrTaken = errors.New("an entry of this name is already there")
)

// Place is the position of an entry: in a top-level group, by its name or, in a list, by its index.
type Place struct {
	Group string // the top-level key
	Name  string // of the entry; "": use Index
	Index int    // from 0
	List  bool   // a missing group is created as a list
}

// Field is one key of an entry. Value is a string, a bool, a Number, a []string, a []any of these,
// or a []Field.
type Field struct {
	Name  string
	Value any
}

// Number is a number as written.
type Number string

// Insert appends an entry to a group and creates the group if it is missing. In a list the name of
// the place is not written: the fields carry it. An empty document becomes one with only this
// entry.
func Insert(f Format, data []byte, at Place, fields []Field) ([]byte, error) {
	return rewrite(f, data, at, onlyEntry, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return insertJSON(body, at, fields) },
		TOML: func(body []byte) ([]edit, error) { return insertTOML(body, at, fields) },
		YAML: func(body []byte) ([]edit, error) { return insertYAML(body, at, fields) },
	})
}

// Restore puts an entry of another document at the end of its group, in the text that it has there.
func Restore(f Format, data []byte, at Place, from []byte) ([]byte, error) {
	text, ok := Find(f, from, at)
	if !ok {
		return nil, fmt.Errorf("%s: %w", at.Group, ErrNoEntry)
	}
	return rewrite(f, data, at, onlyEntry, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return insertJSON(body, at, asWritten(text)) },
		TOML: func(body []byte) ([]edit, error) { return insertTOML(body, at, asWritten(text)) },
		YAML: func(body []byte) ([]edit, error) { return insertYAML(body, at, asWritten(text)) },
	})
}

// asWritten is an entry in the text of the document that it came from.
type asWritten []byte

// lines is the text with line endings of the document that it goes into.
func (t asWritten) lines(nl string) string {
	text := strings.ReplaceAll(string(t), "\r\n", "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return strings.ReplaceAll(text, "\n", nl)
}

// Remove takes an entry out. The group stays, if need be empty.
func Remove(f Format, data []byte, at Place) ([]byte, error) {
	return rewrite(f, data, at, onlyEntry, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return removeJSON(body, at) },
		TOML: func(body []byte) ([]edit, error) { return removeTOML(body, at) },
		YAML: func(body []byte) ([]edit, error) { return removeYAML(body, at) },
	})
}

// Find returns the bytes of an entry.
func Find(f Format, data []byte, at Place) ([]byte, bool) {
	body, _ := cutMark(data)
	if check(f, body) != nil {
		return nil, false
	}
	switch f {
	case JSON:
		return findJSON(body, at)
	case TOML:
		return findTOML(body, at)
	default:
		return findYAML(body, at)
	}
}

// editor returns the edits for a change of a document.
type editor func(body []byte) ([]edit, error)

// rewrite applies the edits of a format, if only the intended part of the document changes its
// meaning.
func rewrite(f Format, data []byte, at Place, only func(f Format, before, after []byte, at Place) bool, by map[Format]editor) ([]byte, error) {
	body, bom := cutMark(data)
	if err := check(f, body); err != nil {
		return nil, err
	}
	edits, err := []edit(nil), ErrInline
	if find := by[f]; find != nil {
		edits, err = find(body)
	}
	if err == nil {
		out := apply(body, edits)
		if check(f, out) == nil && only(f, body, out, at) {
			return slices.Concat(bom, out), nil
		}
		err = ErrInline
	}
	return nil, fmt.Errorf("%s: %w", at.Group, err)
}

// cutMark removes a byte order mark.
func cutMark(data []byte) (body, mark []byte) {
	mark = []byte("\xef\xbb\xbf")
	if body, ok := bytes.CutPrefix(data, mark); ok {
		return body, mark
	}
	return data, nil
}

// check parses the document. An empty document is valid.
func check(f Format, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	var err error
	switch f {
	case JSON:
		_, err = parseJSON(data)
	case TOML:
		err = checkTOML(data)
	default:
		_, err = parseYAML(data)
	}
	if err != nil {
		return fmt.Errorf("%snot %s: %w", lineOf(err, data), f, plain(err))
	}
	return nil
}

// lineOf names the line of a syntax error; "": the error does so itself, or has none.
func lineOf(err error, data []byte) string {
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("line %d: ", 1+bytes.Count(data[:min(int(at.ByteOffset), len(data))], []byte("\n")))
	}
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return fmt.Sprintf("line %d: ", line)
	}
	return ""
}

// plain is a syntax error without its position.
func plain(err error) error {
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok && at.Err != nil {
		return at.Err
	}
	return err
}

// edit replaces data[from:to] by text.
type edit struct {
	from, to int
	text     string
}

// apply performs the edits, which are in order and do not overlap.
func apply(data []byte, edits []edit) []byte {
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(data[done:e.from])
		out.WriteString(e.text)
		done = e.to
	}
	out.Write(data[done:])
	return out.Bytes()
}

// newline returns the line ending of the document.
func newline(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// LineStarts returns the offsets of the lines of a document.
func LineStarts(data []byte) []int {
	out := []int{0}
	for i, c := range data {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// lineStart returns the start of the line at an offset.
func lineStart(data []byte, off int) int { return bytes.LastIndexByte(data[:off], '\n') + 1 }

// lineEnd returns the offset after the line's ending, or the end of the document.
func lineEnd(data []byte, off int) int {
	if i := bytes.IndexByte(data[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(data)
}

// indentAt returns the indentation of the line at an offset.
func indentAt(data []byte, off int) string {
	line := data[lineStart(data, off):off]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
