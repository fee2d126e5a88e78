package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads TOML into a tree. The library's parser handles the syntax. This code decides
// which tables may be opened, extended or closed, so that it finds every conflict in linear time.
// After a syntax error the tree has everything before it, and whole is false.
func parseTOML(data []byte) (root *node, found []finding, whole bool) {
	t := &tomlTree{root: newTable(0, fromHeader)}
	t.table = t.root
	t.parser.Reset(data)
	for t.deep == nil && t.parser.NextExpression() {
		switch e := t.parser.Expression(); e.Kind {
		case unstable.Table:
			t.openTable(t.key(e))
		case unstable.ArrayTable:
			t.openArrayItem(t.key(e))
		case unstable.KeyValue:
			t.assign(t.table, t.path, e)
		}
	}
	if err := cmp.Or(t.deep, t.parser.Error()); err != nil {
		t.syntaxError(data, err)
		return t.root, t.found, false
	}
	return t.root, t.found, true
}

type tomlTree struct {
	parser unstable.Parser
	root   *node
	table  *node  // opened by the last header
	path   string // its name
	depth  int
	deep   error // set once the file is nested too deeply
	deepAt int
	found  []finding
}

// part is one part of a dotted key.
type part struct {
	name string
	off  int
}

func (t *tomlTree) key(n *unstable.Node) []part {
	var parts []part
	for it := n.Key(); it.Next(); {
		k := it.Node()
		parts = append(parts, part{string(k.Data), int(k.Raw.Offset)})
		if len(parts) > maxDepth {
			t.deep, t.deepAt = errDepth, int(k.Raw.Offset)
			return parts[:1]
		}
	}
	return parts
}

func (t *tomlTree) syntaxError(data []byte, err error) {
	f := finding{place: place{off: len(data)}, text: "not TOML: " + err.Error()}
	if strings.HasPrefix(err.Error(), "expected keyword") {
		f.text = "not TOML: expected a value; a string needs quotes"
	}
	if errors.Is(err, errDepth) {
		f.off, f.text = t.deepAt, err.Error()
	}
	if perr, ok := errors.AsType[*unstable.ParserError](err); ok && perr.Highlight != nil {
		f.off = int(t.parser.Range(perr.Highlight).Offset)
	}
	if isYAML(lineAt(data, f.off)) {
		f.text = "not TOML: this line is YAML; write key = value, or the whole file as JSON"
	}
	t.found = append(t.found, f)
}

// lineAt returns the line of an offset.
func lineAt(data []byte, off int) []byte {
	off = min(off, len(data))
	line := data[bytes.LastIndexByte(data[:off], '\n')+1:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return line
}

var yamlLine = regexp.MustCompile(`^\s*(- )?["']?[A-Za-z_][\w-]*["']?:(\s|$)|^---\s*$`)

// isYAML reports whether a line that is not TOML is "key: value".
func isYAML(line []byte) bool { return yamlLine.Match(line) }

func (t *tomlTree) clash(off int, label, format string, args ...any) {
	t.found = append(t.found, finding{place: place{label: label, off: off}, text: fmt.Sprintf(format, args...)})
}

// openTable handles a [header].
func (t *tomlTree) openTable(parts []part) {
	parent, path, ok := t.descend(parts)
	last := parts[len(parts)-1]
	t.path = join(path, last.name)
	t.table = newTable(last.off, fromHeader)
	if !ok {
		return // the rest is checked for syntax only
	}
	old := parent.get(last.name)
	switch {
	case old == nil:
		parent.put(member{name: last.name, off: last.off, value: t.table})
	case old.kind == kindTable && old.origin == fromImplied:
		old.origin = fromHeader
		t.table = old
	case old.kind == kindTable && old.origin != fromValue:
		t.clash(last.off, t.path, "this table is defined twice")
		t.table = old
	default:
		t.clash(last.off, t.path, "this key is already %s and cannot be opened as a table", old.kind)
	}
}

// openArrayItem handles a [[header]].
func (t *tomlTree) openArrayItem(parts []part) {
	parent, path, ok := t.descend(parts)
	last := parts[len(parts)-1]
	t.path = join(path, last.name)
	t.table = newTable(last.off, fromHeader)
	if !ok {
		return
	}
	old := parent.get(last.name)
	switch {
	case old == nil:
		list := &node{kind: kindList, off: last.off, origin: fromArray, items: []*node{t.table}}
		parent.put(member{name: last.name, off: last.off, value: list})
		t.path += "[0]"
	case old.origin == fromArray:
		old.items = append(old.items, t.table)
		t.path += fmt.Sprintf("[%d]", len(old.items)-1)
	default:
		t.clash(last.off, t.path, "this key is already %s and cannot be opened with [[…]]", old.kind)
	}
}

// descend returns the table that contains the last part of a header.
func (t *tomlTree) descend(parts []part) (parent *node, path string, ok bool) {
	parent, ok = t.root, true
	for _, p := range parts[:len(parts)-1] {
		path = join(path, p.name)
		if !ok {
			continue
		}
		next := parent.get(p.name)
		switch {
		case next == nil:
			next = newTable(p.off, fromImplied)
			parent.put(member{name: p.name, off: p.off, value: next})
		case next.origin == fromArray:
			path += fmt.Sprintf("[%d]", len(next.items)-1)
			next = next.items[len(next.items)-1]
		case next.kind != kindTable || next.origin == fromValue:
			t.clash(p.off, path, "this key is already %s and cannot be extended", next.kind)
			ok = false
		}
		parent = next
	}
	return parent, path, ok
}

// assign puts key = value into a table.
func (t *tomlTree) assign(table *node, path string, e *unstable.Node) {
	parts := t.key(e)
	for _, p := range parts[:len(parts)-1] {
		path = join(path, p.name)
		next := table.get(p.name)
		if next == nil {
			next = newTable(p.off, fromDotted)
			table.put(member{name: p.name, off: p.off, value: next})
		} else if next.kind != kindTable || next.origin != fromDotted {
			t.clash(p.off, path, "this key is already %s and cannot be extended by a dotted key", next.kind)
			return
		}
		table = next
	}
	last := parts[len(parts)-1]
	path = join(path, last.name)
	value := t.value(e.Value(), path, last.off)
	value.off = last.off
	if !table.put(member{name: last.name, off: last.off, value: value}) {
		t.clash(last.off, path, "this key is set twice")
	}
}

// value converts a parsed value into a node. Lists have no position and use their owner's.
func (t *tomlTree) value(v *unstable.Node, path string, off int) *node {
	if v.Raw.Length > 0 {
		off = int(v.Raw.Offset)
	}
	n := &node{text: string(v.Data), off: off}
	if t.depth++; t.depth > maxDepth {
		t.deep, t.deepAt = errDepth, off
		return n
	}
	defer func() { t.depth-- }()
	switch v.Kind {
	case unstable.InlineTable:
		n.kind, n.text = kindTable, ""
		n.origin = fromDotted // open for its own dotted keys
		for it := v.Children(); it.Next(); {
			t.assign(n, path, it.Node())
		}
		closeTables(n)
	case unstable.Array:
		n.kind, n.text = kindList, ""
		for it := v.Children(); it.Next(); {
			n.items = append(n.items, t.value(it.Node(), fmt.Sprintf("%s[%d]", path, len(n.items)), off))
		}
	case unstable.String:
		n.kind = kindString
	case unstable.Bool:
		n.kind = kindBool
	case unstable.Integer:
		n.kind = kindInteger
	case unstable.Float:
		n.kind = kindFloat
	default:
		n.kind = kindDate
	}
	return n
}

// closeTables closes an inline table and the tables made by its dotted keys.
func closeTables(n *node) {
	n.origin = fromValue
	for _, m := range n.members {
		if m.value.kind == kindTable && m.value.origin == fromDotted {
			closeTables(m.value)
		}
	}
}
