package era

import (
	"cmp"
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// maxNesting limits how deeply documents are followed, and thus the stack.
const maxNesting = 256

// A node is a small parsed JSON value for comparison. The zero node is null.
type node struct {
	kind   byte    // '{', '[', or 0 for any other value
	scalar string  // any other value as JSON, in canonical form
	fields []field // of an object, sorted by name; no field is null
	elems  []node  // of an array
}

type field struct {
	name  string
	value node
}

// parse reads a value. Values nested too deeply become null.
func parse(doc []byte) node {
	c := rawjson.NewCursor(doc)
	return readNode(&c, 0)
}

func readNode(c *rawjson.Cursor, depth int) node {
	switch first := c.Peek(); {
	case depth == maxNesting:
		c.Value()
		return node{}
	case first == '{':
		n := node{kind: '{'}
		for c.Enter(); !c.Done(); {
			name := string(c.Name())
			n.fields = append(n.fields, field{name, readNode(c, depth+1)})
		}
		n.fields = canonical(n.fields)
		return n
	case first == '[':
		n := node{kind: '['}
		for c.Enter(); !c.Done(); {
			n.elems = append(n.elems, readNode(c, depth+1))
		}
		return n
	}
	raw := c.Raw()
	if s, ok := rawjson.Text(raw); ok {
		return node{scalar: string(rawjson.AppendQuoted(nil, s))}
	}
	if rawjson.IsNothing(raw) {
		return node{}
	}
	return node{scalar: string(raw)}
}

// canonical sorts fields by name. It keeps the last of equal names and drops nulls.
func canonical(fields []field) []field {
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	kept := fields[:0]
	for i, f := range fields {
		last := i+1 == len(fields) || fields[i+1].name != f.name
		if last && !f.value.isNull() {
			kept = append(kept, f)
		}
	}
	return kept
}

func (n node) isNull() bool { return n.kind == 0 && n.scalar == "" }

// isNo reports whether a value is null or false, which means absent.
func (n node) isNo() bool { return n.isNull() || n.kind == 0 && n.scalar == "false" }

// get returns the value of a member; null: absent.
func (n node) get(name string) node {
	i, ok := slices.BinarySearchFunc(n.fields, name, func(f field, name string) int { return cmp.Compare(f.name, name) })
	if !ok {
		return node{}
	}
	return n.fields[i].value
}

// with returns an object with a member added or replaced.
func (n node) with(name string, value node) node {
	n.fields = canonical(append(slices.Clone(n.fields), field{name, value}))
	return n
}

// append appends the value in canonical form: members sorted by name, no white space.
func (n node) append(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, f := range n.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendQuoted(dst, f.name), ':')
			dst = f.value.append(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, e := range n.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	default:
		return append(dst, cmp.Or(n.scalar, "null")...)
	}
}

func (n node) text() string { return string(n.append(nil)) }

// covers reports whether have declares everything that want declares.
func covers(have, want node) bool {
	switch {
	case want.isNo():
		return true
	case want.kind == 0 && want.scalar == "true":
		return !have.isNo()
	case want.kind != have.kind:
		return false
	case want.kind == '{':
		for _, f := range want.fields {
			if !covers(have.get(f.name), f.value) {
				return false
			}
		}
		return true
	case want.kind == '[':
		all := make(map[string]bool, len(have.elems))
		for _, e := range have.elems {
			all[e.text()] = true
		}
		return !slices.ContainsFunc(want.elems, func(e node) bool { return !all[e.text()] })
	default:
		return have.scalar == want.scalar
	}
}

// union returns a value that declares everything that either does. If values conflict, the choice
// does not depend on the order of a and b.
func union(a, b node) node {
	switch {
	case a.kind == '{' && b.kind == '{':
		return node{kind: '{', fields: unionFields(a.fields, b.fields)}
	case a.kind == '[' && b.kind == '[':
		return unionArrays(a, b)
	case a.isNo():
		return b
	case b.isNo():
		return a
	case a.kind != b.kind:
		if a.kind > b.kind { // prefer an object to an array, an array to a scalar
			return a
		}
		return b
	default:
		return node{scalar: max(a.scalar, b.scalar)}
	}
}

func unionFields(a, b []field) []field {
	var all []field
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0].name, b[0].name); {
		case order < 0:
			all, a = append(all, a[0]), a[1:]
		case order > 0:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, field{a[0].name, union(a[0].value, b[0].value)})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// unionArrays merges arrays as sets, unless they are equal.
func unionArrays(a, b node) node {
	if a.text() == b.text() {
		return a
	}
	type element struct {
		text string
		node node
	}
	var all []element
	for _, e := range slices.Concat(a.elems, b.elems) {
		all = append(all, element{e.text(), e})
	}
	slices.SortFunc(all, func(x, y element) int { return strings.Compare(x.text, y.text) })
	all = slices.CompactFunc(all, func(x, y element) bool { return x.text == y.text })
	n := node{kind: '['}
	for _, e := range all {
		n.elems = append(n.elems, e.node)
	}
	return n
}
