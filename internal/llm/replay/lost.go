package replay

import (
	"maps"
	"slices"
)

// Faults counts what the model may have missed.
type Faults struct {
	Results int `json:"results"` // tool results sent
	Changed int `json:"changed"` // of these, sent changed at least once
	// Changed results with an identifier that a later answer uses although no sent text has it.
	Lost  int `json:"lost"`
	Blind int `json:"blind"` // requests whose answer uses such an identifier
}

func (f *Faults) add(g Faults) {
	f.Results += g.Results
	f.Changed += g.Changed
	f.Lost += g.Lost
	f.Blind += g.Blind
}

// faults compares the sent prompts with the whole ones.
func (p *player) faults(out played) Faults {
	var f Faults
	changed, lost := make(map[*rendered]bool), make(map[*rendered]bool)
	results := make(map[string]bool)
	for k, whole := range p.whole {
		sent := out.prompt[k]
		var now []int
		for i, m := range whole {
			if m.role != roleTool {
				continue
			}
			results[m.id] = true
			if sent[i].rendered != m.rendered {
				now = append(now, i)
				changed[m.rendered] = true
			}
		}
		if len(p.answers[k]) == 0 || len(now) == 0 {
			continue
		}
		missing := make(map[string][]*rendered)
		for w := range identifiers(p.answers[k]) {
			for _, i := range now {
				if whole[i].identifiers()[w] && !sent[i].identifiers()[w] {
					missing[w] = append(missing[w], whole[i].rendered)
				}
			}
		}
		blind := false
		for _, w := range slices.Sorted(maps.Keys(missing)) {
			if holds(sent, w) {
				continue
			}
			from := missing[w]
			blind = true
			least := from[0]
			known := false
			for _, m := range from {
				known = known || lost[m]
				if m.chars < least.chars {
					least = m
				}
			}
			if !known {
				lost[least] = true
			}
		}
		if blind {
			f.Blind++
		}
	}
	f.Results, f.Changed, f.Lost = len(results), len(changed), len(lost)
	return f
}

// identifiers returns the identifiers of all pieces.
func identifiers(of []piece) map[string]bool {
	if len(of) == 1 {
		return of[0].identifiers()
	}
	all := make(map[string]bool)
	for _, m := range of {
		maps.Copy(all, m.identifiers())
	}
	return all
}

func holds(prompt []piece, word string) bool {
	for _, m := range prompt {
		if m.identifiers()[word] {
			return true
		}
	}
	return false
}
