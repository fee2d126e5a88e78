package toolindex

import (
	"math"
	"slices"
)

// Index is many parts as one. It does not change; all methods may be called at the same time.
type Index struct {
	lexicon *Lexicon
	model   *Model
	items   []Item
	docs    []document
	vocab   []string
	ids     map[string]int32 // by stem
	idf     []float32        // by term

	postings [][]posting     // by term
	concepts [][]concept     // by term
	meant    [][]posting     // by concept
	meantIDF []float32       // by concept
	topics   [][]topicWeight // by item
	names    names
}

// topicWeight is how much of a subject an item or a query has, the whole being 1 long.
type topicWeight struct {
	topic  concept
	weight float32
}

// posting says how much of a term an item has.
type posting struct {
	doc    int32
	weight float32 // saturated
}

// New joins parts, in their order.
func New(parts ...*Part) *Index { return Words().Index(&shippedModel, parts...) }

// Index is New with this lexicon and another model.
func (l *Lexicon) Index(m *Model, parts ...*Part) *Index {
	x := &Index{lexicon: l, model: m, ids: map[string]int32{}}
	for _, p := range parts {
		to := make([]int32, len(p.vocab)) // one more than the term's own number; 0: not met yet
		x.items = append(x.items, p.items...)
		for _, d := range p.docs {
			x.docs = append(x.docs, x.renumbered(d, p.vocab, to))
		}
	}
	x.concepts = make([][]concept, len(x.vocab))
	for i, s := range x.vocab {
		x.concepts[i] = l.concepts[s]
	}
	x.weigh()
	x.topics = make([][]topicWeight, len(x.docs))
	for i := range x.docs {
		x.topics[i] = x.topicsIn(&x.docs[i])
	}
	x.names = newNames(x.items)
	return x
}

// renumbered has a document's terms by the numbers of the index. Terms that no document has are left out.
func (x *Index) renumbered(d document, vocab []string, to []int32) document {
	all := make([]int32, 0, len(d.name)+len(d.title)+len(d.server)+len(d.first)+len(d.rest)+len(d.args))
	for _, field := range []*[]int32{&d.name, &d.title, &d.server, &d.first, &d.rest, &d.args} {
		start := len(all)
		for _, t := range *field {
			if to[t] == 0 {
				id, known := x.ids[vocab[t]]
				if !known {
					id = int32(len(x.vocab)) //nolint:gosec // bounded by what servers list
					x.ids[vocab[t]] = id
					x.vocab = append(x.vocab, vocab[t])
				}
				to[t] = id + 1
			}
			all = append(all, to[t]-1)
		}
		*field = all[start:len(all):len(all)]
	}
	return d
}

// weigh makes the postings: BM25F, each field normalized by its length, then saturated together.
func (x *Index) weigh() {
	m := x.model
	var total float64
	for i := range x.docs {
		total += float64(len(x.docs[i].first) + len(x.docs[i].rest))
	}
	average := float32(total/float64(max(1, len(x.docs)))) + 1
	sums := make([]float32, len(x.vocab))
	ofConcept := make([]float32, len(x.lexicon.isTopic))
	x.postings = make([][]posting, len(x.vocab))
	x.meant = make([][]posting, len(ofConcept))
	var touched []int32
	var meant []concept
	for i := range x.docs {
		d := &x.docs[i]
		long := 1 - m.B + m.B*float32(len(d.first)+len(d.rest)+1)/average
		add := func(field []int32, weight float32) {
			for _, t := range field {
				if sums[t] == 0 {
					touched = append(touched, t)
				}
				sums[t] += weight
			}
		}
		add(d.name, m.Name)
		add(d.title, m.Title)
		add(d.server, m.Server)
		add(d.first, m.First/long)
		add(d.rest, m.Rest/long)
		add(d.args, m.Args)
		slices.Sort(touched)
		for _, t := range touched {
			x.postings[t] = append(x.postings[t], posting{int32(i), m.saturated(sums[t])})
			for _, c := range x.concepts[t] {
				if ofConcept[c] == 0 {
					meant = append(meant, c)
				}
				ofConcept[c] += sums[t]
			}
			sums[t] = 0
		}
		slices.Sort(meant)
		for _, c := range meant {
			x.meant[c] = append(x.meant[c], posting{int32(i), m.saturated(ofConcept[c])})
			ofConcept[c] = 0
		}
		touched, meant = touched[:0], meant[:0]
	}
	x.idf = make([]float32, len(x.vocab))
	for t, p := range x.postings {
		x.idf[t] = x.rarity(len(p))
	}
	x.meantIDF = make([]float32, len(x.meant))
	for c, p := range x.meant {
		x.meantIDF[c] = x.rarity(len(p))
	}
}

// rarity is the inverse document frequency.
func (x *Index) rarity(in int) float32 {
	n := float64(len(x.docs))
	return float32(math.Log(1 + (n-float64(in)+.5)/(float64(in)+.5)))
}

// Len returns how many items there are.
func (x *Index) Len() int { return len(x.items) }

// Item returns one by its place.
func (x *Index) Item(i int) Item { return x.items[i] }
