package toolindex

import (
	"cmp"
	"slices"
)

// Hit is an item that was found.
type Hit struct {
	Item  int     // its place in the index
	Score float64 // 0 to 1; 1 is a name
}

// Find returns the items that serve a query, best first, at most limit.
func (x *Index) Find(query string, limit int) []Hit {
	q := x.read(query)
	named := x.names.find(query)
	found := x.candidates(q, named)
	x.score(q, found)
	hits := make([]Hit, 0, min(limit, len(found)))
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
	})
	for _, c := range found[:min(limit, len(found))] {
		hits = append(hits, Hit{Item: int(c.doc), Score: c.shown()})
	}
	return hits
}

// query is a query read for an index.
type query struct {
	words    []word
	terms    []queryTerm
	pairs    map[[2]int32]bool // terms that stand side by side
	verb     verb
	verbTerm int32            // of the first verb; -1: no item has it
	total    float32          // of the terms' weights
	letters  map[[3]byte]bool // three by three, without what is between words

	slots []int16             // by term: one more than its place in terms; 0: the query does not have it
	means map[concept][]int16 // places in terms of those that have a synonym in the group
	leads map[int32][]reach   // by term: places in terms that lead to it, as ids
}

// queryTerm is a stem of a query.
type queryTerm struct {
	id       int32 // -1: no item has it
	weight   float32
	concepts []concept
	leads    []reach
}

// reach is a term that a query's term stands for in part.
type reach struct {
	id     int32
	weight float32
}

func (x *Index) read(text string) *query {
	const most = 96 // words; longer queries are tasks, whose beginning says what is wanted
	q := &query{words: words(text), pairs: map[[2]int32]bool{}, letters: trigrams(text)}
	q.words = q.words[:min(len(q.words), most)]
	q.verb, q.verbTerm = askedVerb(q.words), -1
	if q.verb != noVerb {
		q.verbTerm = x.verbTerm(q.words)
	}
	const fewWords = 24 // of a wish; a longer text is a story
	seen := map[string]bool{}
	before, beforeText := int32(-1), ""
	add := func(s string, factor float32) int32 {
		id, known := x.ids[s]
		if !known {
			id = -1
		}
		if seen[s] {
			return id
		}
		seen[s] = true
		t := queryTerm{id: id, concepts: x.lexicon.concepts[s], weight: factor * x.lexicon.trusted(s)}
		for _, l := range x.lexicon.leads[s] {
			if to, ok := x.ids[l.to]; ok {
				t.leads = append(t.leads, reach{to, l.weight})
			}
		}
		if id < 0 && len(t.concepts) == 0 && len(t.leads) == 0 {
			return id
		}
		q.total += t.weight * x.termIDF(id)
		q.terms = append(q.terms, t)
		return id
	}
	for _, w := range q.words {
		if stopWords[w.text] {
			before, beforeText = -1, ""
			continue
		}
		s := stem(w.text)
		factor := x.model.Kinds[w.kind]
		if w.aside && len(q.words) <= fewWords {
			factor *= x.model.Aside
		}
		id := add(s, factor)
		if before >= 0 && id >= 0 {
			q.pairs[[2]int32{before, id}] = true
		}
		if beforeText != "" {
			if joined := stem(beforeText + w.text); x.has(joined) { // event grid, eventgrid
				add(joined, 1)
			}
		}
		before, beforeText = id, w.text
	}
	q.prepare(x)
	return q
}

// prepare makes what measuring candidates needs.
func (q *query) prepare(x *Index) {
	q.terms = q.terms[:min(len(q.terms), maxQueryTerms)]
	q.slots = make([]int16, len(x.vocab))
	q.means, q.leads = map[concept][]int16{}, map[int32][]reach{}
	for i, t := range q.terms {
		at := int16(i)
		if t.id >= 0 {
			q.slots[t.id] = at + 1
		}
		for _, c := range t.concepts {
			if !x.lexicon.isTopic[c] {
				q.means[c] = append(q.means[c], at)
			}
		}
		for _, l := range t.leads {
			q.leads[l.id] = append(q.leads[l.id], reach{int32(i), l.weight})
		}
	}
}

// maxQueryTerms bounds the terms of a query.
const maxQueryTerms = 64

func (x *Index) has(s string) bool { _, ok := x.ids[s]; return ok }

// termIDF is a term's rarity; one that no item has is as rare as can be.
func (x *Index) termIDF(id int32) float32 {
	if id < 0 {
		return x.rarity(0)
	}
	return x.idf[id]
}

// candidate is an item that may serve a query.
type candidate struct {
	doc          int32
	tier         int     // by its name; 0: not
	total, exact float32 // of the first step
	score        float32 // of the second
	share        float32 // the score in parts of the best
}

func (c candidate) shown() float64 {
	if c.tier > 0 {
		return 1
	}
	return float64(c.share)
}

// maxCandidates is how many items of the first step the second looks at.
const maxCandidates = 64

// candidates are the best items of the first step, and those that the query names.
func (x *Index) candidates(q *query, named map[int32]int) []candidate {
	total, exact := make([]float32, len(x.docs)), make([]float32, len(x.docs))
	best := make([]float32, len(x.docs))
	var touched []int32
	m := x.model
	offer := func(p posting, value float32) {
		if best[p.doc] == 0 {
			touched = append(touched, p.doc)
		}
		best[p.doc] = max(best[p.doc], value)
	}
	for _, t := range q.terms {
		if t.id >= 0 {
			w := t.weight * x.idf[t.id]
			for _, p := range x.postings[t.id] {
				offer(p, w*p.weight)
				exact[p.doc] += w * p.weight
			}
		}
		for _, c := range t.concepts {
			w := t.weight * min(x.meantIDF[c], x.termIDF(t.id)) * m.Synonym
			if x.lexicon.isTopic[c] {
				w = t.weight * x.meantIDF[c] * m.Topic
			}
			for _, p := range x.meant[c] {
				offer(p, w*p.weight)
			}
		}
		for _, l := range t.leads {
			w := t.weight * x.idf[l.id] * m.Lead * l.weight
			for _, p := range x.postings[l.id] {
				offer(p, w*p.weight)
			}
		}
		for _, doc := range touched {
			total[doc] += best[doc]
			best[doc] = 0
		}
		touched = touched[:0]
	}
	found := make([]candidate, 0, maxCandidates+1)
	for doc := range total {
		d := int32(doc)
		tier := named[d]
		if total[doc] == 0 && tier == 0 {
			continue
		}
		c := candidate{doc: d, tier: tier, total: total[doc], exact: exact[doc]}
		if len(found) == maxCandidates && byFirstStep(c, found[maxCandidates-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(found, c, byFirstStep)
		found = slices.Insert(found, at, c)
		found = found[:min(len(found), maxCandidates)]
	}
	return found
}

// byFirstStep orders candidates, the best first.
func byFirstStep(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.total, a.total), cmp.Compare(a.doc, b.doc))
}
