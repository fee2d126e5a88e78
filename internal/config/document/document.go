package document

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is the language of a document.
type Format int

// The formats. JSON includes JSON with comments and trailing commas.
const (
	JSON Format = iota
	TOML
	YAML
)

// String is the name of the format.
func (f Format) String() string { return [...]string{"JSON", "TOML", "YAML"}[f] }

// FormatOf tells the format by the file's ending; anything unknown is recognised by its first character, as a configuration is.
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
	// ErrInline says that the group is there but written in a way that is not edited here.
	ErrInline = errors.New("written in a form that cannot be edited here; change it by hand")
	// ErrNoEntry says that there is no such entry.
	ErrNoEntry = errors.New("no such entry")
	// ErrTaken says that an entry of this name is there.
	ErrTaken = errors.New("an entry of this name is already there")
)

// Place is where an entry stands or is to stand: in a top-level group, by its name or, in a list, by its index.
type Place struct {
	Group string // the top-level key
	Name  string // of the entry; "": Index counts
	Index int    // from 0
	List  bool   // a group that is not there yet becomes a list
}

// Field is one key of an entry. Value is a string, a bool, a Number, a []string, a []any of these, or a []Field.
type Field struct {
	Name  string
	Value any
}

// Number is a number as it is written.
type Number string

// Insert puts an entry at the end of a group, which is made where it is missing. In a list the name of the place is not
// written: the fields carry it. An empty document becomes one with this entry alone.
func Insert(f Format, data []byte, at Place, fields []Field) ([]byte, error) {
	return rewrite(f, data, at, onlyEntry, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return insertJSON(body, at, fields) },
		TOML: func(body []byte) ([]edit, error) { return insertTOML(body, at, fields) },
		YAML: func(body []byte) ([]edit, error) { return insertYAML(body, at, fields) },
	})
}

// Remove takes an entry out. The group stays, if need be empty.
func Remove(f Format, data []byte, at Place) ([]byte, error) {
	return rewrite(f, data, at, onlyEntry, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return removeJSON(body, at) },
		TOML: func(body []byte) ([]edit, error) { return removeTOML(body, at) },
		YAML: func(body []byte) ([]edit, error) { return removeYAML(body, at) },
	})
}

// Find gives the bytes of an entry.
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

// editor finds the edits that a change of a document takes.
type editor func(body []byte) ([]edit, error)

// rewrite applies the edits of a format, if the document says the same afterwards but for what was meant.
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

// cutMark takes a byte order mark off.
func cutMark(data []byte) (body, mark []byte) {
	mark = []byte("\xef\xbb\xbf")
	if body, ok := bytes.CutPrefix(data, mark); ok {
		return body, mark
	}
	return data, nil
}

// check parses the document; nothing at all is a document too.
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
		return fmt.Errorf("not %s: %w", f, err)
	}
	return nil
}

// edit replaces data[from:to] by text.
type edit struct {
	from, to int
	text     string
}

// apply makes the edits; they are in order and do not overlap.
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

// newline is the line ending of the document.
func newline(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// LineStarts are the offsets where the lines of a document begin.
func LineStarts(data []byte) []int {
	out := []int{0}
	for i, c := range data {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// lineStart is where the line of an offset begins.
func lineStart(data []byte, off int) int { return bytes.LastIndexByte(data[:off], '\n') + 1 }

// lineEnd is the offset behind the line's line ending, or the end of the document.
func lineEnd(data []byte, off int) int {
	if i := bytes.IndexByte(data[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(data)
}

// indentAt is the white space that the line of an offset begins with.
func indentAt(data []byte, off int) string {
	line := data[lineStart(data, off):off]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
