package bpe

import "sync"

const (
	// Pieces of at most this many bytes are merged by scanning all parts each time.
	fewParts = 32
	atOnce   = 4 << 10 // bytes of a piece that are merged together
)

// mergeFew counts the tokens of a short piece. It merges the leftmost pair with the lowest rank
// until no pair is a token.
func mergeFew(text string, from, to int) int {
	var (
		start [fewParts + 1]uint8  // offset of each part in the piece, then the end of the last
		rank  [fewParts + 1]uint32 // of each part merged with the next
	)
	n := to - from
	lowest, at := uint32(absent), 0
	for i := range n - 1 {
		start[i] = uint8(i)
		rank[i] = rankOfPair(text, from+i)
		if rank[i] < lowest {
			lowest, at = rank[i], i
		}
	}
	start[n-1], start[n] = uint8(n-1), uint8(n) //nolint:gosec // at most fewParts
	rank[n-1] = absent
	for lowest != absent {
		copy(start[at+1:n], start[at+2:n+1])
		copy(rank[at+1:n-1], rank[at+2:n])
		n--
		rank[at] = absent
		if at+1 < n {
			rank[at] = rankOf(text, from+int(start[at]), from+int(start[at+2]))
		}
		if at > 0 {
			rank[at-1] = rankOf(text, from+int(start[at-1]), from+int(start[at+1]))
		}
		lowest = absent
		for i, r := range rank[:n] {
			if r < lowest {
				lowest, at = r, i
			}
		}
	}
	return n
}

// parts is a long piece during merging: a doubly linked list of its parts, and a heap of the pairs
// that are tokens.
type parts struct {
	next, before [atOnce + 1]int16
	rank         [atOnce + 1]uint32 // of the part that starts here, merged with the next
	// rank, then offset: the leftmost pair with the lowest rank is on top.
	heap []uint64
}

var spare = sync.Pool{New: func() any { return &parts{heap: make([]uint64, 0, 2*atOnce)} }}

// mergeMany counts the tokens of a long piece, atOnce bytes at a time.
func mergeMany(text string, from, to int) int {
	p := spare.Get().(*parts)
	defer spare.Put(p)
	count := 0
	for ; to-from > atOnce; from += atOnce {
		count += p.merge(text[from : from+atOnce])
	}
	return count + p.merge(text[from:to])
}

// merge is mergeFew with a heap instead of a scan.
func (p *parts) merge(piece string) int {
	n := len(piece)
	p.heap = p.heap[:0]
	for i := range n {
		p.next[i], p.before[i] = int16(i+1), int16(i-1)
	}
	for i := range n - 1 {
		p.keep(i, rankOfPair(piece, i))
	}
	p.rank[n-1] = absent
	count := n
	for len(p.heap) > 0 {
		top := p.pop()
		i := int(top & (1<<32 - 1))
		if p.rank[i] != uint32(top>>32) {
			continue // one of the two parts was merged with another since
		}
		joined := p.next[i]
		p.rank[joined] = absent
		p.next[i] = p.next[joined]
		if int(p.next[i]) < n {
			p.before[p.next[i]] = int16(i) //nolint:gosec // at most atOnce
		}
		count--
		p.look(piece, i)
		if p.before[i] >= 0 {
			p.look(piece, int(p.before[i]))
		}
	}
	return count
}

// look updates the rank of the part at i merged with the next.
func (p *parts) look(piece string, i int) {
	rank := uint32(absent)
	if second := int(p.next[i]); second < len(piece) {
		if end := int(p.next[second]); end-i <= longestToken {
			rank = rankOf(piece, i, end)
		}
	}
	p.keep(i, rank)
}

// keep stores the rank of the pair at i, and pushes the pair on the heap if it is a token.
func (p *parts) keep(i int, rank uint32) {
	p.rank[i] = rank
	if rank != absent {
		p.push(uint64(rank)<<32 | uint64(i)) //nolint:gosec // an index
	}
}

func (p *parts) push(pair uint64) {
	p.heap = append(p.heap, pair)
	i := len(p.heap) - 1
	for i > 0 && p.heap[(i-1)/2] > pair {
		p.heap[i] = p.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	p.heap[i] = pair
}

func (p *parts) pop() uint64 {
	top := p.heap[0]
	last := p.heap[len(p.heap)-1]
	p.heap = p.heap[:len(p.heap)-1]
	i := 0
	for child := 1; child < len(p.heap); child = 2*i + 1 {
		if child+1 < len(p.heap) && p.heap[child+1] < p.heap[child] {
			child++
		}
		if last <= p.heap[child] {
			break
		}
		p.heap[i] = p.heap[child]
		i = child
	}
	if len(p.heap) > 0 {
		p.heap[i] = last
	}
	return top
}
