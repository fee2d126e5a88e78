package rawjson

import (
	"bytes"
	"hash/maphash"
)

// names remembers the member names of all open objects, to find one that comes
// twice. A few names are compared one by one; from fewNames on an object gets a
// hash table, so that no document makes the check slow.
type names struct {
	all  []name  // of all open objects, outermost first
	objs []scope // one for each open object
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

func (n *names) open() {
	if n.objs == nil {
		n.objs, n.all = make([]scope, 0, 8), make([]name, 0, 2*fewNames)
	}
	n.objs = append(n.objs, scope{first: len(n.all)})
}

func (n *names) close() {
	last := len(n.objs) - 1
	n.all = n.all[:n.objs[last].first]
	n.objs[last].table = nil // let it go
	n.objs = n.objs[:last]
}

// add takes the raw name b[start:end], quotes included, into the innermost object.
// It returns false if the object has that name already.
func (n *names) add(b []byte, start, end int) bool {
	nm := name{text: b[start+1 : end-1]}
	if bytes.IndexByte(nm.text, '\\') >= 0 {
		nm.text = []byte(Unquote(b[start:end]))
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
