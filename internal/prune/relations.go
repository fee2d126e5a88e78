package prune

import (
	"cmp"
	"slices"
	"strings"
)

// feedback finds the words that the best rows share besides the goal's own. It returns how close
// each row is to them.
func (t *text) feedback(m *matches, score []float32, rank *ranking) []float32 {
	const words = 12
	n := t.rows()
	type found struct {
		id     uint32
		weight float32
	}
	var list []found
	place := map[uint32]int{}
	best := float32(min(400, max(5, n/40)))
	looked := 0
	for r := range score {
		if score[r] <= 0 || rank.of(score[r]) >= best {
			continue
		}
		if looked++; looked > 800 { // many equals
			break
		}
		terms := t.termsOf(r)
		for _, id := range terms[:min(64, len(terms))] {
			rows := t.vocab.terms[id].rows
			if id == unknown || m.number[id] != 0 || rows < 2 || int(rows) > max(3, n/15) || t.vocab.terms[id].size < 3 {
				continue
			}
			i, ok := place[id]
			if !ok {
				i = len(list)
				place[id] = i
				list = append(list, found{id: id})
			}
			list[i].weight += fastLog(1 + float32(n)/float32(rows))
		}
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.id, b.id)) })
	out := make([]float32, n)
	if len(list) == 0 {
		return out
	}
	weight := make([]float32, t.vocab.len())
	for _, f := range list[:min(words, len(list))] {
		weight[f.id] = fastLog(1 + float32(n)/float32(t.vocab.terms[f.id].rows))
	}
	for r := range out {
		terms := t.termsOf(r)
		sum := float32(0)
		for _, id := range terms {
			sum += weight[id]
		}
		if sum > 0 {
			out[r] = min(sum, 40) / (4 + float32(min(200, len(terms))))
		}
	}
	return out
}

// followCalls follows names to their definitions: each group gets the score of the best row
// elsewhere that names it.
func (t *text) followCalls(groups []group, of []uint32, near []float32) {
	if t.source != Code {
		return
	}
	defined := make([]uint32, t.vocab.len()) // group that defines the word; 0: none
	for r := range of {
		if t.kind[r]&isStructure == 0 || t.kind[r]&isImport != 0 {
			continue
		}
		if id := t.definedBy(r); id != unknown {
			defined[id] = of[r]
		}
	}
	for r := range of {
		if near[r] <= 0 {
			continue
		}
		terms := t.termsOf(r)
		for _, id := range terms[:min(64, len(terms))] {
			if g := defined[id]; g != 0 && g != of[r] {
				groups[g].caller = max(groups[g].caller, near[r])
			}
		}
	}
}

// definedBy returns the word that a header defines; unknown: too common or not seen.
func (t *text) definedBy(r int) uint32 {
	name := definedName(t.row(r))
	if len(name) < 3 {
		return unknown
	}
	id := t.vocab.find(hashWhole(name))
	if id == unknown {
		b := []byte(strings.ToLower(name[:min(len(name), maxPart)]))
		id = t.vocab.find(hashBytes(b[:stem(b)]))
	}
	if int(t.vocab.terms[id].rows) > max(12, t.rows()/20) {
		return unknown
	}
	return id
}

// definedName returns the name before the first bracket, colon or brace of a header, or its last
// word.
func definedName(line string) string {
	line = line[:min(len(line), 300)]
	from := 0
	if strings.HasPrefix(line, "func (") {
		if i := strings.IndexByte(line, ')'); i > 0 {
			from = i + 1
		}
	}
	end := strings.IndexAny(line[from:], "({<:=[")
	if end < 0 {
		end = len(line) - from
	}
	end += from
	for end > from && classes[line[end-1]] == sepClass {
		end--
	}
	start := end
	for start > from && classes[line[start-1]] != sepClass {
		start--
	}
	return line[start:end]
}
