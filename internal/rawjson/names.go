package rawjson

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// names tracks the member names of all open objects, to find duplicates. A few names are compared
// one by one. From fewNames on, an object gets a hash table, so that no document makes the check
// slow.
type names struct {
	all  []name  // of all open objects, outermost first
	objs []scope // one per open object

	memory *memory // initial space for both; nil: no object is open
}

type name struct {
	text []byte // without quotes, escapes decoded
	hash uint64 // set only if there is a table
}

type scope struct {
	first int    // index in all
	table []int  // 1 + index into all, 0: free; nil: few names
	mask  uint64 // size of the table, a power of two, minus 1
}

const fewNames = 12

// hashSeed makes the hash unpredictable for authors of documents.
var hashSeed = maphash.MakeSeed()

// memory is the space for the names of a typical document. It is pooled when the outermost object
// has ended.
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
		*n.memory = memory{} // release the document
		memories.Put(n.memory)
		*n = names{}
		return
	}
	n.all = n.all[:n.objs[last].first]
	n.objs[last].table = nil // release it
	n.objs = n.objs[:last]
}

// add adds a raw name, with quotes, to the innermost object. escaped says that it may contain
// escapes. It returns false if the object already has that name.
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

// find returns the slot of an equal name in the table, or the free slot for it.
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

// grow gives the object a table, or makes it four times as large.
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
