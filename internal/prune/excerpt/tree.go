package excerpt

import (
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/rawjson"
)

// tree is a JSON document that was checked, as nodes in its order.
type tree struct {
	doc     string
	nodes   []node
	words   *lexicon
	typical float32 // what the document says for its length
	// where a schema accepts markers, by array; nil: everything may go, members too
	places map[int32]mask.Place
}

// isObject reports whether a node is an object; 0 is none.
func (t *tree) isObject(i int32) bool { return i != 0 && t.doc[t.nodes[i].start] == '{' }

// node is a value, with its name where it is a member. There are many of them: offsets are 32 bits wide.
type node struct {
	nameStart, nameEnd int32   // with quotes; both 0: it has none
	start, end         int32   // of the value
	size               int32   // without white space, name included
	said               float32 // of all below it
	goal               float32 // the best below it
	first              int32   // of its children; 0: it has none
	next               int32   // behind it in its container; 0: it is the last
	count              int32   // of its children
	column             int32   // of a record's member
	leaf               bool    // it is kept or cut as one
	cut                bool
}

func (n *node) isMember() bool { return n.nameEnd != 0 }

// name is a member's name with its quotes.
func (t *tree) name(n *node) string { return t.doc[n.nameStart:n.nameEnd] }

// value is a value as it is written.
func (t *tree) value(n *node) string { return t.doc[n.start:n.end] }

// smallContainer is the size up to which a container is a leaf.
const smallContainer = 80

// readTree reads a checked document.
func readTree(doc string, goal wanted) *tree {
	t := &tree{doc: doc, words: newLexicon(goal), nodes: make([]node, 0, 1+strings.Count(doc, ",")+strings.Count(doc, "{")+strings.Count(doc, "["))}
	c := rawjson.NewCursor([]byte(doc))
	t.read(&c, rawjson.Span{})
	t.rate()
	return t
}

// read takes the next value in, and returns its number.
func (t *tree) read(c *rawjson.Cursor, name rawjson.Span) int32 {
	self := int32(len(t.nodes))                                       //nolint:gosec // far fewer than bytes of a message
	n := node{nameStart: int32(name.Start), nameEnd: int32(name.End)} //nolint:gosec // offsets of a message
	t.nodes = append(t.nodes, n)
	first := c.Peek()
	if first != '{' && first != '[' {
		at := c.Value()
		n.start, n.end, n.leaf = int32(at.Start), int32(at.End), true //nolint:gosec // as above
		n.size = n.end - n.start
	} else {
		n.start, n.size = int32(c.Pos()), 1 //nolint:gosec // as above
		last := int32(0)
		for c.Enter(); !c.Done(); {
			var key rawjson.Span
			if first == '{' {
				key = c.Value()
			}
			child := t.read(c, key)
			if last == 0 {
				n.first = child
			} else {
				t.nodes[last].next = child
			}
			last = child
			n.count++
			n.size += t.nodes[child].size + 1
		}
		n.end = int32(c.Pos()) //nolint:gosec // as above
		n.size = max(n.size, 2)
		isRecord := first == '{' && !n.isMember() // it may have columns
		n.leaf = n.size <= smallContainer && !isRecord
	}
	if n.isMember() {
		n.size += n.nameEnd - n.nameStart + 1
	}
	t.nodes[self] = n
	return self
}

// nameShare is what a member's name counts beside its value.
const nameShare = .5

// rate has each leaf tell how much it says; containers sum up what is below them.
func (t *tree) rate() {
	ends := make([]int, 0, 2*len(t.nodes))
	t.eachLeaf(func(n *node) { ends = append(ends, t.words.add(t.name(n)), t.words.add(t.value(n))) })
	t.eachLeaf(func(n *node) {
		name, asked := t.words.rate(ends[0], len(t.nodes))
		value, goal := t.words.rate(ends[1], len(t.nodes))
		ends = ends[2:]
		n.said, n.goal = nameShare*name+value, asked+goal
	})
	t.sum(0)
	t.typical = density(t.nodes[0].said, len(t.doc)) // what a part of any size says
	if t.typical == 0 {
		t.typical = 1
	}
}

// eachLeaf gives the leaves in order, and not what is in them.
func (t *tree) eachLeaf(do func(*node)) {
	end := int32(0)
	for i := range t.nodes {
		if n := &t.nodes[i]; n.leaf && n.start >= end {
			do(n)
			end = n.end
		}
	}
}

func (t *tree) sum(i int32) {
	n := &t.nodes[i]
	if n.leaf {
		return
	}
	for child := n.first; child != 0; child = t.nodes[child].next {
		t.sum(child)
		n.said += t.nodes[child].said
		n.goal = max(n.goal, t.nodes[child].goal)
	}
}

func density(said float32, size int) float32 { return said / float32(size+overhead) }

// score is how much a part counts that says so much on so many bytes, at a place of its container from 0 to 1: of equals the first ones
// are kept.
func (t *tree) score(said, goal float32, size int, place float32) float32 {
	return (density(said, size)/t.typical + goal) * (1 + headBonus*(1-place))
}

// headBonus is how much more the first of a list counts than the last.
const headBonus = .2
