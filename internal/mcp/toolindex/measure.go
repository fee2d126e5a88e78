package toolindex

import (
	"math"
	"slices"
)

// feature is what is measured of a candidate.
type feature int

const (
	byTotal       feature = iota // the first step's sum, in parts of the best
	byExact                      // the same without synonyms
	byTotalSize                  // the sum itself
	nameCovered                  // how much of the name the query has
	nameMeant                    // the same with synonyms
	queryInName                  // how much of the query the name has
	queryMeant                   // the same with synonyms
	serverCovered                // how much of the server's id the query means
	queryInFirst                 // how much of the query the first sentence means
	queryInAll                   // how much of the query the item means
	queryInArgs                  // how much of the query the arguments have
	byPairs                      // words that stand side by side in both
	sameVerb
	otherVerb
	verbNamed   // the query's verb itself is in the name
	firstInName // the query's first rare word is in the name
	byTopic     // how far the subjects are the same
	byLetters   // how much of the name's letters the query has, three by three
	byShortness // few words
	rarestFound // the query's rarest word is there
	featureCount
)

type features [featureCount]float32

// score measures candidates and has the model judge them.
func (x *Index) score(q *query, found []candidate) {
	for i, f := range x.measure(q, found) {
		for k, v := range f {
			found[i].score += x.model.Weights[k] * v
		}
	}
	best := float32(math.Inf(-1))
	for _, c := range found {
		best = max(best, c.score)
	}
	for i := range found {
		found[i].share = float32(math.Exp(float64(found[i].score - best)))
	}
}

func (x *Index) measure(q *query, found []candidate) []features {
	out := make([]features, len(found))
	var bestTotal, bestExact, rarest float32 = 1e-6, 1e-6, 0
	for _, c := range found {
		bestTotal, bestExact = max(bestTotal, c.total), max(bestExact, c.exact)
	}
	rare, head := -1, -1
	for i, t := range q.terms {
		if head < 0 && t.id >= 0 && t.weight > .4 && t.id != q.verbTerm && x.idf[t.id] > 1.5 {
			head = i
		}
		if w := t.weight * x.termIDF(t.id); t.id >= 0 && w > rarest {
			rarest, rare = w, i
		}
	}
	topics := x.topicsOf(q)
	near := x.nearTo(q)
	var h holding
	for i, c := range found {
		d := &x.docs[c.doc]
		f := &out[i]
		f[byTotal], f[byExact], f[byTotalSize] = c.total/bestTotal, c.exact/bestExact, c.total/20
		f[nameCovered], f[nameMeant] = x.covered(d.name, near)
		_, f[serverCovered] = x.covered(d.server, near)
		h.look(x, q, d)
		f[queryInName], f[queryMeant] = h.share(x, q, inName)
		_, f[queryInFirst] = h.share(x, q, inName|inServer|inFirst)
		_, f[queryInAll] = h.share(x, q, inName|inServer|inFirst|inRest)
		f[queryInArgs], _ = h.share(x, q, inArgs)
		f[byPairs] = q.pairsIn(d.name, d.title, d.first, d.rest)
		if q.verbTerm >= 0 && slices.Contains(d.name, q.verbTerm) {
			f[verbNamed] = 1
		}
		if head >= 0 && h.exact[head]&inName != 0 {
			f[firstInName] = 1
		} else if head >= 0 {
			f[firstInName] = h.meant[head][0]
		}
		if q.verb != noVerb && d.verb != noVerb {
			if q.verb == d.verb {
				f[sameVerb] = 1
			} else if !akin(q.verb, d.verb) {
				f[otherVerb] = 1
			}
		}
		f[byTopic] = cosine(topics, x.topics[c.doc])
		f[byLetters] = q.lettersIn(x.items[c.doc])
		f[byShortness] = 1 / (1 + float32(len(d.first)+len(d.rest))/20)
		if rare >= 0 && h.exact[rare]&^inArgs != 0 {
			f[rarestFound] = 1
		}
	}
	return out
}

// akin are verbs that people mix up.
func akin(a, b verb) bool {
	return a <= searches && b <= searches || a == reads && b == calculates || a == searches && b == calculates
}

// nearness is how near a term is to a query.
type nearness struct {
	exact map[int32]float32
	meant map[concept]float32
	leads map[int32]float32
}

func (x *Index) nearTo(q *query) nearness {
	n := nearness{exact: map[int32]float32{}, meant: map[concept]float32{}, leads: map[int32]float32{}}
	for _, t := range q.terms {
		trust := min(t.weight, 1)
		if t.id >= 0 {
			n.exact[t.id] = max(n.exact[t.id], trust)
		}
		for _, c := range t.concepts {
			if !x.lexicon.isTopic[c] {
				n.meant[c] = max(n.meant[c], trust)
			}
		}
		for _, l := range t.leads {
			n.leads[l.id] = max(n.leads[l.id], trust*l.weight)
		}
	}
	return n
}

// covered is how much of a field's terms a query has, and means, by their rarity.
func (x *Index) covered(field []int32, n nearness) (exact, meant float32) {
	var all float32
	for _, t := range field {
		w := x.idf[t]
		all += w
		e := n.exact[t]
		s := max(e, x.model.Lead*n.leads[t])
		for _, c := range x.concepts[t] {
			s = max(s, x.model.Meant*n.meant[c])
		}
		exact += w * e
		meant += w * s
	}
	if all == 0 {
		return 0, 0
	}
	return exact / all, meant / all
}

// Where a word of a query may be in an item.
const (
	inName = 1 << iota
	inServer
	inFirst
	inRest
	inArgs
)

// holding is which of a query's terms an item has where, and means where.
type holding struct {
	exact [maxQueryTerms]uint8
	meant [maxQueryTerms][5]float32 // by place
}

// look finds a query's terms in an item.
func (h *holding) look(x *Index, q *query, d *document) {
	clear(h.exact[:len(q.terms)])
	clear(h.meant[:len(q.terms)])
	for place, fields := range [...][2][]int32{{d.name, d.title}, {d.server}, {d.first}, {d.rest}, {d.args}} {
		for _, field := range fields {
			for _, t := range field {
				if at := q.slots[t]; at > 0 {
					h.exact[at-1] |= 1 << place
				}
				for _, c := range x.concepts[t] {
					for _, at := range q.means[c] {
						h.meant[at][place] = max(h.meant[at][place], x.model.Meant)
					}
				}
				for _, l := range q.leads[t] {
					h.meant[l.id][place] = max(h.meant[l.id][place], x.model.Lead*l.weight)
				}
			}
		}
	}
}

// share is how much of a query's weight the places have, and mean.
func (h *holding) share(x *Index, q *query, places uint8) (exact, meant float32) {
	if q.total == 0 {
		return 0, 0
	}
	for i, t := range q.terms {
		w := t.weight * x.termIDF(t.id)
		if h.exact[i]&places != 0 {
			exact += w
			meant += w
			continue
		}
		var best float32
		for place := range 5 {
			if places&(1<<place) != 0 {
				best = max(best, h.meant[i][place])
			}
		}
		meant += w * best
	}
	return exact / q.total, meant / q.total
}

// pairsIn is how many of a query's pairs of neighbours are neighbours in some field.
func (q *query) pairsIn(fields ...[]int32) float32 {
	if len(q.pairs) == 0 {
		return 0
	}
	found := map[[2]int32]bool{}
	for _, field := range fields {
		for i := 1; i < len(field); i++ {
			if p := [2]int32{field[i-1], field[i]}; q.pairs[p] {
				found[p] = true
			}
		}
	}
	return float32(len(found)) / float32(len(q.pairs))
}

// topicsOf are the subjects of a query.
func (x *Index) topicsOf(q *query) []topicWeight {
	sums := map[concept]float32{}
	for _, t := range q.terms {
		for _, c := range t.concepts {
			if x.lexicon.isTopic[c] {
				sums[c] += t.weight * x.meantIDF[c]
			}
		}
	}
	return unit(sums)
}

// topicsIn are the subjects of an item.
func (x *Index) topicsIn(d *document) []topicWeight {
	sums := map[concept]float32{}
	for k, field := range [...][]int32{d.name, d.first, d.rest} {
		w := [...]float32{2, 1, .3}[k]
		for _, t := range field {
			for _, c := range x.concepts[t] {
				if x.lexicon.isTopic[c] {
					sums[c] += w * x.meantIDF[c]
				}
			}
		}
	}
	return unit(sums)
}

// unit makes a vector of length 1, in the order of the subjects.
func unit(sums map[concept]float32) []topicWeight {
	out := make([]topicWeight, 0, len(sums))
	for c, w := range sums {
		out = append(out, topicWeight{c, w})
	}
	slices.SortFunc(out, func(a, b topicWeight) int { return int(a.topic - b.topic) })
	var square float64
	for _, t := range out {
		square += float64(t.weight) * float64(t.weight)
	}
	for i := range out {
		out[i].weight /= float32(math.Sqrt(square) + 1e-9)
	}
	return out
}

// cosine multiplies two vectors of subjects.
func cosine(a, b []topicWeight) (dot float32) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].topic < b[0].topic:
			a = a[1:]
		case a[0].topic > b[0].topic:
			b = b[1:]
		default:
			dot += a[0].weight * b[0].weight
			a, b = a[1:], b[1:]
		}
	}
	return dot
}

// trigrams are the letters of a text three by three.
func trigrams(s string) map[[3]byte]bool {
	const most = 600
	s = squeezed(s[:min(len(s), most)])
	set := make(map[[3]byte]bool, len(s))
	for i := 0; i+3 <= len(s); i++ {
		set[[3]byte{s[i], s[i+1], s[i+2]}] = true
	}
	return set
}

// lettersIn is how much of an item's name is in the query, by letters.
func (q *query) lettersIn(it Item) float32 {
	name := squeezed(it.Name)
	if len(name) < 3 {
		return 0
	}
	hit := 0
	for i := 0; i+3 <= len(name); i++ {
		if q.letters[[3]byte{name[i], name[i+1], name[i+2]}] {
			hit++
		}
	}
	return float32(hit) / float32(len(name)-2)
}
