package chat

import "slices"

// rereads are the pruned results that the agent has fetched again: counted by tool, and noted by
// file.
type rereads struct {
	tools map[string]*reread
	files map[ask]bool // keys are [ask.whole]
}

type reread struct{ cut, again int }

// A tool's results are no longer cut once this many of them, and this share of the cut ones, came
// again.
const (
	fewRereads  = 2
	rereadShare = 1.0 / 3
)

// rereads checks what happened to the results known to have been sent pruned.
func (c *Conversation) rereads(f *forms) *rereads {
	all := &rereads{tools: map[string]*reread{}, files: map[ask]bool{}}
	var cut []int            // sent pruned and not fetched again
	cutOf := map[ask][]ask{} // what was asked for of each file when it was sent pruned
	for i := range c.Messages {
		m := &c.Messages[i]
		if !c.isResult(i) {
			continue
		}
		asked := c.askOf(i)
		if file := asked.whole(); file.file != "" && slices.ContainsFunc(cutOf[file], asked.isSame) {
			all.files[file] = true // even if it has changed since
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

// sparesFile reports whether this agent reads a file twice, so that pruning it would cost more
// requests than it is worth.
func (r *rereads) sparesFile(asked ask) bool { return asked.file != "" && r.files[asked.whole()] }

// sparesTool reports the same of a tool's results.
func (r *rereads) sparesTool(tool string) bool {
	of := r.tools[tool]
	return of != nil && of.again >= fewRereads && float64(of.again) >= rereadShare*float64(of.cut)
}
