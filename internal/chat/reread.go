package chat

import "slices"

// rereads counts, by tool, the results that went out pruned and those of them that the agent has fetched again.
type rereads map[string]*reread

type reread struct{ cut, again int }

// A tool is left alone once so many of its results, and so large a part of those that were cut, came again.
const (
	fewRereads  = 2
	rereadShare = 1.0 / 3
)

// rereads looks at what became of the results that are known to have gone out pruned.
func (c *Conversation) rereads(f *forms) rereads {
	all := rereads{}
	var cut []int // those that went out pruned and have not come again
	for i := range c.Messages {
		m := &c.Messages[i]
		if !c.isResult(i) {
			continue
		}
		if m.Chars >= worthFetching {
			r := repeat{c: c, result: i}
			if at := slices.IndexFunc(cut, r.of); at >= 0 {
				all[c.relate().sinceName(cut[at])].again++
				cut = slices.Delete(cut, at, at+1)
				continue
			}
		}
		if i < len(f.of) && f.of[i].Kind == Pruned {
			tool := c.relate().sinceName(i)
			if all[tool] == nil {
				all[tool] = &reread{}
			}
			all[tool].cut++
			cut = append(cut[max(0, len(cut)-nearResults):], i)
		}
	}
	return all
}

// spares tells whether cutting the results of a tool costs more requests than it is worth: this agent reads them twice.
func (r rereads) spares(tool string) bool {
	of := r[tool]
	return of != nil && of.again >= fewRereads && float64(of.again) >= rereadShare*float64(of.cut)
}
