package document

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// checkTOML parses strictly: no duplicate keys or tables.
func checkTOML(data []byte) error {
	var all map[string]any
	return toml.Unmarshal(data, &all)
}

// tomlBlock is the text under one [header], or before the first one.
type tomlBlock struct {
	key        []string // nil before the first header
	array      bool     // [[header]]
	start, end int      // from the header's line to the end of its last key's line
	keys       []string // the first parts of its keys
}

// tomlBlocks splits a valid document. Blank lines and comments before a header belong to no block.
func tomlBlocks(data []byte) []tomlBlock {
	p := unstable.Parser{KeepComments: true}
	p.Reset(data)
	blocks := []tomlBlock{{}}
	comments := map[int]bool{} // starts of comment lines
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			comments[lineStart(data, int(e.Raw.Offset))] = true
			continue
		}
		var key []string
		first := -1
		for it := e.Key(); it.Next(); {
			if first < 0 {
				first = int(it.Node().Raw.Offset)
			}
			key = append(key, string(it.Node().Data))
		}
		if e.Kind == unstable.KeyValue {
			last := &blocks[len(blocks)-1]
			last.keys = append(last.keys, key[0])
			continue
		}
		blocks = append(blocks, tomlBlock{key: key, array: e.Kind == unstable.ArrayTable, start: lineStart(data, first)})
	}
	for i := range blocks {
		end := len(data)
		if i+1 < len(blocks) {
			end = blocks[i+1].start
		}
		blocks[i].end = contentEnd(data, blocks[i].start, end, func(line int) bool {
			return comments[line] || comments[line+indentWidth(data[line:])]
		})
	}
	return blocks
}

func indentWidth(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// contentEnd moves an offset back over blank and comment lines.
func contentEnd(data []byte, start, end int, isComment func(line int) bool) int {
	for end > start {
		line := lineStart(data, end-1)
		if len(bytes.TrimSpace(data[line:end])) > 0 && !isComment(line) || line < start {
			break
		}
		end = line
	}
	return end
}

// of reports whether the block belongs to the group.
func (b tomlBlock) of(group string) bool { return len(b.key) > 0 && b.key[0] == group }

func insertTOML(data []byte, at Place, entry any) ([]edit, error) {
	blocks := tomlBlocks(data)
	end := len(data)
	list := at.List
	found := false
	for _, b := range blocks {
		if b.key == nil && slices.Contains(b.keys, at.Group) {
			return nil, ErrInline
		}
		if !b.of(at.Group) {
			continue
		}
		if !found {
			list = b.array && len(b.key) == 1
		}
		found, end = true, b.end
		if !list && len(b.key) > 1 && b.key[1] == at.Name || len(b.key) == 1 && slices.Contains(b.keys, at.Name) && !list {
			return nil, ErrTaken
		}
	}
	nl := newline(data)
	var text strings.Builder
	if end > 0 && data[end-1] != '\n' {
		text.WriteString(nl)
	}
	if len(bytes.TrimSpace(data[:end])) > 0 {
		text.WriteString(nl)
	}
	if written, ok := entry.(asWritten); ok {
		text.WriteString(written.lines(nl))
		return []edit{{end, end, text.String()}}, nil
	}
	if list {
		text.WriteString("[[" + tomlKey(at.Group) + "]]" + nl)
	} else {
		text.WriteString("[" + tomlKey(at.Group) + "." + tomlKey(at.Name) + "]" + nl)
	}
	fields, _ := entry.([]Field)
	for _, f := range fields {
		text.WriteString(tomlKey(f.Name) + " = " + tomlValue(f.Value) + nl)
	}
	return []edit{{end, end, text.String()}}, nil
}

func removeTOML(data []byte, at Place) ([]edit, error) {
	var edits []edit
	for _, b := range entryBlocks(tomlBlocks(data), at) {
		from := b.start
		if before := lineStart(data, max(from-1, 0)); from > 0 && len(bytes.TrimSpace(data[before:from])) == 0 {
			from = before
		}
		edits = append(edits, edit{from, b.end, ""})
	}
	if edits == nil {
		return nil, missingTOML(data, at)
	}
	return edits, nil
}

func findTOML(data []byte, at Place) ([]byte, bool) {
	var out []byte
	for _, b := range entryBlocks(tomlBlocks(data), at) {
		out = append(out, data[b.start:b.end]...)
	}
	return out, out != nil
}

// missingTOML distinguishes a missing entry from an inline one.
func missingTOML(data []byte, at Place) error {
	for _, b := range tomlBlocks(data) {
		if b.key == nil && slices.Contains(b.keys, at.Group) || len(b.key) == 1 && b.of(at.Group) && slices.Contains(b.keys, at.Name) {
			return ErrInline
		}
	}
	return ErrNoEntry
}

// entryBlocks returns the blocks of one entry: its header and those of its tables.
func entryBlocks(blocks []tomlBlock, at Place) []tomlBlock {
	var out []tomlBlock
	index := -1
	for _, b := range blocks {
		if !b.of(at.Group) {
			continue
		}
		if b.array && len(b.key) == 1 {
			index++
		}
		if at.Name == "" && index == at.Index || at.Name != "" && len(b.key) > 1 && index < 0 && b.key[1] == at.Name {
			out = append(out, b)
		}
	}
	return out
}

func tomlKey(key string) string {
	for i := range len(key) {
		c := key[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

func tomlValue(value any) string {
	switch v := value.(type) {
	case []Field:
		if len(v) == 0 {
			return "{}"
		}
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = tomlKey(f.Name) + " = " + tomlValue(f.Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []string:
		parts := make([]string, len(v))
		for i, text := range v {
			parts[i] = quote(text)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = tomlValue(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(value)
}
