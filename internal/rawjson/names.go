package rawjson

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// names remembers the member names of all open objects, to find one that comes
// twice. A few names are compared one by one; from fewNames on an object gets a
// hash table, so that no document makes the check slow.
type names struct {
	all  []name  // of all open objects, outermost first
	objs []scope // one for each open object

	memory *memory // where they are as long as they are few; nil: nothing is open
}

type name struct {
	text []byte // without quotes, escapes decoded
	hash uint64 // set only where there is a table
}

type scope struct {
	first int    // in all
	table []int  // 1 + index into all, 0 for free; nil while there are few names
	mask  uint64 // the table's size, a power of two, less 1
}

const fewNames = 12

// hashSeed makes the tables' order unpredictable to whoever writes documents.
var hashSeed = maphash.MakeSeed()

// memory is what the names of a document of usual size need. It is used again for
// another one when the outermost object has ended.
type memory struct {
	all  [2 * fewNames]name
	objs [8]scope
}

var memories = sync.Pool{New: func() any { return new(memory) }}

func (n *names) open() {
	if n.memory == nil {
		n.memory = memories.Get().(*memory)
		n.objs, n.all = n.memory.objs[:0], n.memory.all[:0]
	}
	n.objs = append(n.objs, scope{first: len(n.all)})
}

func (n *names) close() {
	last := len(n.objs) - 1
	if last == 0 {
		*n.memory = memory{} // let the document go
		memories.Put(n.memory)
		*n = names{}
		return
	}
	n.all = n.all[:n.objs[last].first]
	n.objs[last].table = nil // let it go
	n.objs = n.objs[:last]
}

// add takes a raw name, quotes included, into the innermost object; escaped says
// that it may have escapes. It returns false if the object has that name already.
func (n *names) add(raw []byte, escaped bool) bool {
	nm := name{text: raw[1 : len(raw)-1]}
	if escaped && bytes.IndexByte(nm.text, '\\') >= 0 {
		nm.text = []byte(Unquote(raw))
	}
	sc := &n.objs[len(n.objs)-1]
	if have := n.all[sc.first:]; sc.table == nil && len(have) < fewNames {
		for i := range have {
			if bytes.Equal(have[i].text, nm.text) {
				return false
			}
		}
		n.all = append(n.all, nm)
		return true
	}
	if have := n.all[sc.first:]; 2*(len(have)+1) > len(sc.table) {
		n.grow(sc)
	}
	nm.hash = maphash.Bytes(hashSeed, nm.text)
	i := n.find(sc, &nm)
	if sc.table[i] != 0 {
		return false
	}
	n.all = append(n.all, nm)
	sc.table[i] = len(n.all)
	return true
}

// find returns the slot of the table that holds an equal name, or the free one
// where it belongs.
func (n *names) find(sc *scope, nm *name) uint64 {
	for i := nm.hash & sc.mask; ; i = (i + 1) & sc.mask {
		at := sc.table[i]
		if at == 0 {
			return i
		}
		if other := &n.all[at-1]; other.hash == nm.hash && bytes.Equal(other.text, nm.text) {
			return i
		}
	}
}

// grow gives the object a table, or one four times as large as it has.
func (n *names) grow(sc *scope) {
	fresh := sc.table == nil
	sc.mask = sc.mask<<2 | 63
	sc.table = make([]int, sc.mask+1)
	for i := sc.first; i < len(n.all); i++ {
		nm := &n.all[i]
		if fresh {
			nm.hash = maphash.Bytes(hashSeed, nm.text)
		}
		sc.table[n.find(sc, nm)] = i + 1
	}
}
