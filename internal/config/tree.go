package config

import (
	"errors"
	"strings"
)

// maxDepth bounds the nesting of a file; ours needs five levels. It keeps the work linear in the
// file's size.
const maxDepth = 64

var errDepth = errors.New("nested too deeply")

// kind is the type of a value in the file, before decoding.
type kind int

const (
	kindTable kind = iota
	kindList
	kindString
	kindInteger
	kindFloat
	kindBool
	kindDate
	kindNull
)

// String names a kind for people.
func (k kind) String() string {
	return [...]string{"a table", "a list", "a string", "a whole number", "a number with a fraction", "true or false", "a date", "null"}[k]
}

// node is one value of the file.
type node struct {
	kind    kind
	text    string // the value of a string; the text of a number, a boolean or a date
	members []member
	byName  map[string]int // member name to its index in members
	items   []*node
	off     int    // of the key, or of the value inside a list
	label   string // full name of this item or entry, if its position does not give it
	outside bool   // read from another file: not a literal of this one
	origin  origin // origin of a TOML table, which decides what may be added to it
}

// member is one key of a table with its value.
type member struct {
	name  string
	label string // the author's name if we renamed it; "": name
	off   int
	value *node
}

// origin is how a table or list was created.
type origin int

const (
	fromValue   origin = iota // {…} or […]: closed
	fromImplied               // an ancestor of a [header]
	fromHeader                // its own [header]
	fromDotted                // a dotted key
	fromArray                 // [[header]]
)

func newTable(off int, o origin) *node { return &node{kind: kindTable, off: off, origin: o} }

func newString(text string, off int) *node { return &node{kind: kindString, text: text, off: off} }

// get returns the member's value; nil: none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if i, ok := n.byName[name]; ok {
		return n.members[i].value
	}
	return nil
}

// put adds a member; false: the name is taken.
func (n *node) put(m member) bool {
	if _, taken := n.byName[m.name]; taken {
		return false
	}
	if n.byName == nil {
		n.byName = map[string]int{}
	}
	n.byName[m.name] = len(n.members)
	n.members = append(n.members, m)
	return true
}

// replace changes the value of an existing member.
func (n *node) replace(name string, value *node) { n.members[n.byName[name]].value = value }

// without returns a copy of the table without some members; the nodes below are shared.
func (n *node) without(names ...string) *node {
	out := newTable(n.off, n.origin)
	out.label = n.label
next:
	for _, m := range n.members {
		for _, name := range names {
			if m.name == name {
				continue next
			}
		}
		out.put(m)
	}
	return out
}

// join appends a key to a path, quoted if necessary.
func join(path, key string) string {
	if !isBare(key) {
		key = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x1b", `\e`).Replace(key) + `"`
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func isBare(key string) bool {
	for i := range len(key) {
		if c := key[i]; !isWordByte(c) && c != '-' && c != '$' {
			return false
		}
	}
	return key != ""
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
