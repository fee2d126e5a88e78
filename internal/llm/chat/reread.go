package chat

import "slices"

// rereads are the results that went out pruned and that the agent has fetched again: counted by tool, and noted by file.
type rereads struct {
	tools map[string]*reread
	files map[ask]bool // as [ask.whole] names them
}

type reread struct{ cut, again int }

// A tool is left alone once so many of its results, and so large a part of those that were cut, came again.
const (
	fewRereads  = 2
	rereadShare = 1.0 / 3
)

// rereads looks at what became of the results that are known to have gone out pruned.
func (c *Conversation) rereads(f *forms) *rereads {
	all := &rereads{tools: map[string]*reread{}, files: map[ask]bool{}}
	var cut []int            // those that went out pruned and have not come again
	cutOf := map[ask][]ask{} // what was asked for of each file when it went out pruned
	for i := range c.Messages {
		m := &c.Messages[i]
		if !c.isResult(i) {
			continue
		}
		asked := c.askOf(i)
		if file := asked.whole(); file.file != "" && slices.ContainsFunc(cutOf[file], asked.isSame) {
			all.files[file] = true // also where it has changed since
		}
		if m.Chars >= worthFetching {
			r := repeat{c: c, result: i}
			if at := slices.IndexFunc(cut, r.of); at >= 0 {
				all.tools[c.relate().sinceName(cut[at])].again++
				cut = slices.Delete(cut, at, at+1)
				continue
			}
		}
		if i < len(f.of) && f.of[i].Kind == Pruned {
			tool := c.relate().sinceName(i)
			if all.tools[tool] == nil {
				all.tools[tool] = &reread{}
			}
			all.tools[tool].cut++
			cut = append(cut[max(0, len(cut)-nearResults):], i)
			if file := asked.whole(); file.file != "" {
				cutOf[file] = append(cutOf[file][max(0, len(cutOf[file])-nearResults):], asked)
			}
		}
	}
	return all
}

// spares tells whether cutting a result costs more requests than it is worth: this agent reads its file twice, or whatever its tool gives.
func (r *rereads) spares(tool string, asked ask) bool {
	if asked.file != "" && r.files[asked.whole()] {
		return true
	}
	of := r.tools[tool]
	return of != nil && of.again >= fewRereads && float64(of.again) >= rereadShare*float64(of.cut)
}
