package prune

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// matches says where a text has what its goal names. Each distinct counting word of the text has a
// number here, from 1.
type matches struct {
	number []uint32  // of each vocabulary number: its number here; 0: does not count
	exact  []float32 // weight of the goal's own words
	soft   []float32 // weight of those and of related words
	term   []uint16  // the goal's term it stands for
	whole  []bool    // whether that is a word of several parts, such as an identifier
	rows   []uint32  // how many rows have it

	first []uint32 // of each row: start of its matches in found; one more at the end
	found []uint32 // numbers, in text order

	// Per term of the goal: its rarity, 0 if the text lacks it; they sum to 1.
	termWeight []float32
	// Per number: the bit of its term among the heaviest 64; 0 for lighter ones.
	bit       []uint64
	bitWeight [64]float32
}

// match finds the goal's terms in the text: the same term and, with less weight, one that begins
// alike or means the same.
func (t *text) match() *matches {
	v := t.vocab
	m := &matches{number: make([]uint32, v.len())}
	m.add(v, unknown, 0, 0, goalTerm{}, 0) // number 0 is none
	m.number[unknown] = 0
	for i, g := range t.goal.terms {
		if id := v.find(g.hash); id != unknown {
			m.add(v, id, g.weight, g.weight, g, i)
		}
	}
	t.matchAkin(m)
	m.first = make([]uint32, t.rows()+1)
	for r := range t.rows() {
		m.first[r] = uint32(len(m.found)) //nolint:gosec // fewer than bytes
		for _, id := range t.termsOf(r) {
			if n := m.number[id]; n != 0 {
				m.found = append(m.found, n)
			}
		}
	}
	m.first[t.rows()] = uint32(len(m.found)) //nolint:gosec // fewer than bytes
	m.termWeight = make([]float32, len(t.goal.terms))
	sum := float32(0)
	for n := 1; n < len(m.term); n++ {
		if w := float32(float32(rarity(t.rows(), int(m.rows[n]))) * m.soft[n]); w > m.termWeight[m.term[n]] {
			sum += w - m.termWeight[m.term[n]]
			m.termWeight[m.term[n]] = w
		}
	}
	for i := range m.termWeight {
		m.termWeight[i] /= max(sum, 1e-6)
	}
	m.assignBits()
	return m
}

// assignBits gives the heaviest terms their bits.
func (m *matches) assignBits() {
	order := make([]int, len(m.termWeight))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.termWeight[b], m.termWeight[a]) })
	of := make([]uint64, len(order))
	for place, term := range order[:min(64, len(order))] {
		of[term] = 1 << place
		m.bitWeight[place] = m.termWeight[term]
	}
	m.bit = make([]uint64, len(m.term))
	for n := 1; n < len(m.term); n++ {
		m.bit[n] = of[m.term[n]]
	}
}

func (m *matches) add(v *vocab, id uint32, exact, soft float32, g goalTerm, term int) {
	m.number[id] = uint32(len(m.exact)) //nolint:gosec // fewer than words
	m.exact = append(m.exact, exact)
	m.soft = append(m.soft, soft)
	m.term = append(m.term, uint16(term)) //nolint:gosec // at most maxGoalTerms
	m.whole = append(m.whole, g.whole)
	m.rows = append(m.rows, v.terms[id].rows)
}

// clearRows returns the rows with every word of the goal that the text has, if those are most of
// them. A goal that only asks what failed names nothing.
func (t *text) clearRows(m *matches) []bool {
	need, own := 0, 0
	wanted := make([]bool, len(t.goal.terms))
	for i, g := range t.goal.terms {
		if g.fail || g.whole {
			continue
		}
		own++
		if t.vocab.find(g.hash) != unknown {
			wanted[i] = true
			need++
		}
	}
	if need == 0 || 5*need < 3*own || need > 64 {
		return nil
	}
	out := make([]bool, t.rows())
	seen := make([]int, len(wanted))
	found := false
	for r := range out {
		got := 0
		for _, n := range m.of(r) {
			if term := m.term[n]; m.exact[n] > 0 && wanted[term] && seen[term] != r+1 {
				seen[term] = r + 1
				got++
			}
		}
		out[r] = got == need
		found = found || out[r]
	}
	if !found {
		return nil
	}
	return out
}

func (m *matches) of(r int) []uint32 { return m.found[m.first[r]:m.first[r+1]] }

const (
	prefixLetters = 4
	prefixWeight  = .6 // one word begins with the other
	stemWeight    = .4 // both begin alike and end differently
	akinWeight    = .5 // a synonym
)

// matchAkin finds the words of the text that begin like a word of the goal, and its common
// synonyms.
func (t *text) matchAkin(m *matches) {
	byPrefix := map[string][]int{}
	for i, g := range t.goal.terms {
		if !g.whole && len(g.text) >= prefixLetters && classes[g.text[0]] != digitClass {
			byPrefix[g.text[:prefixLetters]] = append(byPrefix[g.text[:prefixLetters]], i)
		}
		for _, w := range akin[g.text] {
			b := []byte(w)
			if id := t.vocab.find(hashBytes(b[:stem(b)])); id != unknown && m.number[id] == 0 {
				m.add(t.vocab, id, 0, akinWeight*g.weight, goalTerm{}, i)
			}
		}
	}
	if len(byPrefix) == 0 {
		return
	}
	var buf [maxPart]byte
	for id := 1; id < t.vocab.len(); id++ {
		if m.number[id] != 0 || t.vocab.terms[id].size < prefixLetters || int(t.vocab.terms[id].size) > maxPart {
			continue
		}
		w := t.word(uint32(id))
		n := 0
		for ; n < len(w) && n < prefixLetters; n++ {
			buf[n] = lower(w[n])
		}
		terms, ok := byPrefix[string(buf[:prefixLetters])]
		if !ok {
			continue
		}
		for ; n < len(w); n++ {
			buf[n] = lower(w[n])
		}
		n = stem(buf[:n])
		best, of := float32(0), 0
		for _, i := range terms {
			if x := t.goal.terms[i].weight * likeness(buf[:n], t.goal.terms[i].text); x > best {
				best, of = x, i
			}
		}
		if best > 0 {
			m.add(t.vocab, uint32(id), 0, best, goalTerm{}, of)
		}
	}
}

func lower(c byte) byte {
	if classes[c] == upperClass {
		c |= 0x20
	}
	return c
}

// likeness returns how far two words with the same beginning count as the same.
func likeness(word []byte, term string) float32 {
	p := 0
	for p < len(word) && p < len(term) && word[p] == term[p] {
		p++
	}
	switch shorter := min(len(word), len(term)); {
	case p == shorter:
		return prefixWeight
	case p >= 6 && p >= shorter-2 || p == 5 && p >= shorter-1:
		return stemWeight
	}
	return 0
}

// akin lists abbreviations and synonyms common in programs.
var akin = func() map[string][]string {
	groups := strings.Split(`message msg|error err|request req|response resp res reply|context ctx|buffer buf|string str|number num|
length len size|directory dir folder|delete remove del unlink|parameter param arg argument|initialize init setup|maximum max|minimum min|
previous prev|temporary tmp temp|address addr|source src|destination dst dest|pointer ptr|index idx|command cmd|environment env|
database db|password passwd pwd|document doc|character char|boolean bool|integer int|image img|button btn|attribute attr|value val|
variable var|function func fn|synchronize sync|asynchronous async|memory mem malloc alloc|leak free release|connection conn|
authentication auth|authorization auth|certificate cert|repository repo|package pkg|library lib|version ver|configuration config conf cfg|
option opt|reference ref|position pos|count num|column col|separator sep|callback cb|iterator iter|sequence seq|expression expr|
statement stmt|declaration decl|definition def|property prop|generate gen|execute exec|process proc|timestamp time|regular regex|
pattern regex|null nil none|exception error|throw raise|empty blank|duplicate dup|compare cmp equal|convert cast|encode marshal serialize|
decode unmarshal deserialize parse|quit exit|crash segfault panic|warning warn|stop shutdown close|begin start|finish end`, "|")
	table := map[string][]string{}
	for _, g := range groups {
		words := strings.Fields(g)
		for _, a := range words {
			b := []byte(a)
			key := string(b[:stem(b)])
			for _, other := range words {
				if other != a {
					table[key] = append(table[key], other)
				}
			}
		}
	}
	return table
}()

// rarity returns the weight of a term that count of n documents have.
func rarity(n, count int) float64 {
	return logOf(1 + (float64(n-count)+.5)/(float64(count)+.5))
}

const (
	bm25K     = 1.2
	bm25Lines = .5  // discount of long lines
	bm25Block = .75 // discount of long blocks
)

// bm25 scores runs of rows as documents. starts has the first row of each; nil: every row is a
// document. head is how many rows of each count; 0: all.
func (t *text) bm25(m *matches, weight []float32, starts []uint32, head int) []float32 {
	docs, b := len(starts), bm25Block
	if starts == nil {
		docs, b = t.rows(), bm25Lines
	}
	span := func(i int) (lo, hi int) {
		if starts == nil {
			return i, i + 1
		}
		lo, hi = int(starts[i]), t.rows()
		if i+1 < len(starts) {
			hi = int(starts[i+1])
		}
		if head > 0 {
			hi = min(hi, lo+head)
		}
		return lo, hi
	}
	idf := make([]float64, len(m.exact))
	total := len(t.terms)
	if starts != nil {
		total = 0
		holders, last := make([]uint32, len(m.exact)), make([]uint32, len(m.exact))
		for i := range docs {
			lo, hi := span(i)
			total += int(t.first[hi] - t.first[lo])
			for _, n := range m.found[m.first[lo]:m.first[hi]] {
				if last[n] != uint32(i)+1 {
					last[n] = uint32(i) + 1
					holders[n]++
				}
			}
		}
		for n := range idf {
			idf[n] = rarity(docs, int(holders[n]))
		}
	} else {
		for n := range idf {
			idf[n] = rarity(docs, int(m.rows[n]))
		}
	}
	avg := math.Max(1, float64(total)/math.Max(1, float64(docs)))
	out := make([]float32, docs)
	tf := make([]uint32, len(m.exact))
	var order []uint32
	for i := range docs {
		lo, hi := span(i)
		found := m.found[m.first[lo]:m.first[hi]]
		if len(found) == 0 {
			continue
		}
		order = order[:0]
		for _, n := range found {
			if tf[n] == 0 {
				order = append(order, n)
			}
			tf[n]++
		}
		q := float64(bm25K * (1 - b + float64(b*float64(t.first[hi]-t.first[lo]))/avg))
		sum := 0.0
		for _, n := range order {
			f := float64(tf[n])
			tf[n] = 0
			sum += float64(float64(float64(float64(weight[n])*idf[n])*f)*(bm25K+1)) / (f + q)
		}
		out[i] = float32(sum)
	}
	return out
}
