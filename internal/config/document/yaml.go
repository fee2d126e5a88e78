package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads a document whose root is a mapping; nil: an empty document.
func parseYAML(data []byte) (*yaml.Node, error) {
	if hasOddLineEnds(data) {
		return nil, errors.New("lines that end in neither LF nor CRLF are not edited")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil //nolint:nilnil // comments alone are a document without a root
		}
		return nil, err
	}
	var all map[string]any // detects duplicate keys
	if err := doc.Decode(&all); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		if saysNothing(data) {
			return nil, nil //nolint:nilnil // as above
		}
		return nil, errors.New("expected keys at the top level")
	}
	return root, nil
}

// hasOddLineEnds reports line ends that YAML counts but we do not: its nodes have line numbers.
func hasOddLineEnds(data []byte) bool {
	rest := bytes.ReplaceAll(data, []byte("\r\n"), nil)
	return bytes.ContainsAny(rest, "\r\u0085\u2028\u2029")
}

// saysNothing reports whether a document has only comments, blank lines and its opening line.
func saysNothing(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}

// yamlGroup is a top-level list of entries.
type yamlGroup struct {
	keyLine int // offset of its key's line
	value   *yaml.Node
	items   []yamlItem
}

// yamlItem is one entry of the list, in whole lines.
type yamlItem struct {
	name       string
	start, end int
	indent     string // before the dash
}

func insertYAML(data []byte, at Place, entry any) ([]edit, error) {
	g, ok, err := groupYAML(data, at.Group)
	if err != nil {
		return nil, err
	}
	nl := newline(data)
	if !ok {
		text := at.Group + ":" + nl + yamlEntry("  ", nl, entry)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			text = nl + text
		}
		return []edit{{len(data), len(data), text}}, nil
	}
	for _, item := range g.items {
		if item.name == at.Name {
			return nil, ErrTaken
		}
	}
	end := lineEnd(data, g.keyLine)
	indent := "  "
	switch {
	case len(g.items) > 0:
		last := g.items[len(g.items)-1]
		end, indent = last.end, last.indent
	case g.value.Tag == "!!null" && g.value.Value == "":
	case g.value.Kind == yaml.SequenceNode && g.value.Anchor == "": // [] becomes a list of lines
		line := data[g.keyLine:end]
		i := bytes.Index(line, []byte("[]"))
		if i < 0 {
			return nil, ErrInline
		}
		from := g.keyLine + len(bytes.TrimRight(line[:i], " "))
		return []edit{{from, g.keyLine + i + 2, ""}, {end, end, lineBreak(data, end, nl) + yamlEntry(indent, nl, entry)}}, nil
	default:
		return nil, ErrInline
	}
	return []edit{{end, end, lineBreak(data, end, nl) + yamlEntry(indent, nl, entry)}}, nil
}

// lineBreak returns the line ending needed before a line inserted at an offset.
func lineBreak(data []byte, at int, nl string) string {
	if at > 0 && data[at-1] != '\n' {
		return nl
	}
	return ""
}

func removeYAML(data []byte, at Place) ([]edit, error) {
	g, ok, err := groupYAML(data, at.Group)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoEntry
	}
	for _, item := range g.items {
		if item.name != at.Name {
			continue
		}
		if len(g.items) > 1 {
			return []edit{{item.start, item.end, ""}}, nil
		}
		// A list without items must be written as [].
		colon := g.keyLine + bytes.IndexByte(data[g.keyLine:], ':') + 1
		return []edit{{colon, colon, " []"}, {item.start, item.end, ""}}, nil
	}
	return nil, ErrNoEntry
}

func findYAML(data []byte, at Place) ([]byte, bool) {
	g, _, err := groupYAML(data, at.Group)
	if err != nil {
		return nil, false
	}
	for _, item := range g.items {
		if item.name == at.Name {
			return data[item.start:item.end], true
		}
	}
	return nil, false
}

func groupYAML(data []byte, name string) (g yamlGroup, ok bool, err error) {
	root, err := parseYAML(data)
	if err != nil || root == nil {
		return g, false, err
	}
	if root.Style&yaml.FlowStyle != 0 {
		return g, false, ErrInline
	}
	lines := LineStarts(data)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value != name {
			continue
		}
		g = yamlGroup{keyLine: lines[key.Line-1], value: value}
		if value.Kind != yaml.SequenceNode || value.Style&yaml.FlowStyle != 0 {
			return g, true, nil
		}
		bound := len(data)
		if i+2 < len(root.Content) {
			bound = lines[root.Content[i+2].Line-1]
		}
		for j, item := range value.Content {
			it := yamlItem{start: dashLine(data, lines[item.Line-1], value.Column), end: bound, indent: strings.Repeat(" ", value.Column-1)}
			if j+1 < len(value.Content) {
				it.end = dashLine(data, lines[value.Content[j+1].Line-1], value.Column)
			}
			it.end = contentEnd(data, it.start, it.end, func(line int) bool {
				return bytes.HasPrefix(bytes.TrimLeft(data[line:], " "), []byte("#"))
			})
			for k := 0; k+1 < len(item.Content); k += 2 {
				if item.Content[k].Value == "name" {
					it.name = item.Content[k+1].Value
				}
			}
			g.items = append(g.items, it)
		}
		return g, true, nil
	}
	return g, false, nil
}

// dashLine returns the line of an item's dash: the item's line or one above it.
func dashLine(data []byte, line, column int) int {
	for line > 0 {
		if i := line + column - 1; i < len(data) && data[i] == '-' && len(bytes.TrimSpace(data[line:i])) == 0 {
			break
		}
		line = lineStart(data, line-1)
	}
	return line
}

// yamlEntry writes an item in lines.
func yamlEntry(indent, nl string, entry any) string {
	if written, ok := entry.(asWritten); ok {
		return written.lines(nl)
	}
	fields, _ := entry.([]Field)
	var b strings.Builder
	for i, f := range fields {
		if i == 0 {
			b.WriteString(indent + "- ")
		} else {
			b.WriteString(indent + "  ")
		}
		b.WriteString(f.Name + ":")
		if list, ok := f.Value.([]string); ok && len(list) > 0 {
			b.WriteString(nl)
			for _, text := range list {
				b.WriteString(indent + "    - " + yamlScalar(text) + nl)
			}
			continue
		}
		b.WriteString(" " + yamlValue(f.Value) + nl)
	}
	return b.String()
}

// yamlValue writes a value in flow style, which is JSON.
func yamlValue(value any) string {
	if text, ok := value.(string); ok {
		return yamlScalar(text)
	}
	return jsonStyle{oneLine: true}.render(value, "")
}

// yamlScalar leaves plain words unquoted and quotes everything else.
func yamlScalar(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_-."
	if text == "" || strings.Trim(text, plain) != "" || strings.HasPrefix(text, "-") || strings.HasPrefix(text, ".") || isYAMLWord(text) {
		return quote(text)
	}
	return text
}

// isYAMLWord reports a plain word that is no string in some version of YAML.
func isYAMLWord(text string) bool {
	return slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text))
}
