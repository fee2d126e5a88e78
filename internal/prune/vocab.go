package prune

// vocab numbers the distinct terms of a text. It stays small beside the text: once it is full, a
// new term counts as unknown, that is, rare.
type vocab struct {
	slots []uint32 // number + 1, open addressing by hash
	limit int
	terms []term
}

// term is a distinct word of a text.
type term struct {
	hash uint64
	rows uint32 // how many rows have it
	last uint32 // the latest of them, plus one
	at   uint32 // offset of its first occurrence
	born uint32 // the first row that has it
	size uint8  // its length there; 255: that or longer

	compound bool // a word of several parts
	number   bool // it begins with a digit
}

// unknown is the number of every term that found no room.
const unknown = 0

func newVocab(textLen int) *vocab {
	return &vocab{slots: make([]uint32, 1<<10), limit: max(1<<14, textLen/48), terms: make([]term, 1, 1<<8)}
}

func (v *vocab) len() int { return len(v.terms) }

// add counts a term at text[start:end] in a row and returns its number.
func (v *vocab) add(hash uint64, row, start, end int, compound, number bool) uint32 {
	mask := uint64(len(v.slots)) - 1
	r := uint32(row + 1) //nolint:gosec // rows are fewer than bytes
	i := hash >> 20 & mask
	for ; v.slots[i] != 0; i = (i + 1) & mask {
		id := v.slots[i] - 1
		if t := &v.terms[id]; t.hash == hash {
			if t.last != r {
				t.last = r
				t.rows++
			}
			return id
		}
	}
	if len(v.terms) >= v.limit {
		return unknown
	}
	id := uint32(len(v.terms)) //nolint:gosec // limit keeps it far below
	v.terms = append(v.terms, term{
		hash: hash, rows: 1, last: r, born: r - 1, at: uint32(start), size: uint8(min(255, end-start)), //nolint:gosec // offsets are below MaxText
		compound: compound, number: number,
	})
	v.slots[i] = id + 1
	if 2*len(v.terms) > len(v.slots) {
		v.grow()
	}
	return id
}

// see counts a known term in a row.
func (v *vocab) see(id uint32, row int) {
	r := uint32(row + 1) //nolint:gosec // rows are fewer than bytes
	if t := &v.terms[id]; t.last != r && id != unknown {
		t.last = r
		t.rows++
	}
}

// find returns the number of a term, or unknown.
func (v *vocab) find(hash uint64) uint32 {
	mask := uint64(len(v.slots)) - 1
	for i := hash >> 20 & mask; v.slots[i] != 0; i = (i + 1) & mask {
		if id := v.slots[i] - 1; v.terms[id].hash == hash {
			return id
		}
	}
	return unknown
}

func (v *vocab) grow() {
	v.slots = make([]uint32, 4*len(v.slots))
	mask := uint64(len(v.slots)) - 1
	for id := 1; id < len(v.terms); id++ {
		i := v.terms[id].hash >> 20 & mask
		for v.slots[i] != 0 {
			i = (i + 1) & mask
		}
		v.slots[i] = uint32(id) + 1
	}
}
