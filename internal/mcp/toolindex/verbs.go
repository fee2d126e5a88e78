package toolindex

import "strings"

// verb is a class of actions.
type verb uint8

const (
	noVerb verb = iota
	reads
	searches
	creates
	changes
	deletes
	sends
	moves
	copies
	runs
	stops
	calculates
	converts
)

// verbWords are the words of each class, reads first.
var verbWords = map[verb]string{
	reads:      "get list show read view fetch retrieve describe display enumerate see check what which tell look give print",
	searches:   "search find query lookup locate discover explore browse",
	creates:    "create add make new insert generate build write save put register open compose draft produce upload provision",
	changes:    "update edit modify change set patch rename adjust configure alter replace switch turn enable disable",
	deletes:    "delete remove erase drop purge clear destroy uninstall clean discard",
	sends:      "send post publish share notify reply submit message email",
	moves:      "move relocate rename transfer",
	copies:     "copy duplicate clone",
	runs:       "run execute start launch invoke call play trigger begin deploy restart",
	stops:      "stop kill cancel terminate end abort halt close",
	calculates: "calculate compute count sum solve evaluate estimate measure compare analyze analyse",
	converts:   "convert translate transform export",
}

var verbs = func() map[string]verb {
	m := map[string]verb{}
	for v := reads; v <= converts; v++ {
		for w := range strings.FieldsSeq(verbWords[v]) {
			if _, taken := m[stem(w)]; !taken {
				m[stem(w)] = v
			}
		}
	}
	return m
}()

// verbOf is what a tool does, by its name or else by the first word of its description.
func verbOf(name, description string) verb {
	parts := words(name)
	for _, at := range []int{0, len(parts) - 1} { // get_file, file_get
		if at >= 0 && at < len(parts) {
			if v := verbs[stem(parts[at].text)]; v != noVerb {
				return v
			}
		}
	}
	for _, w := range words(description[:min(len(description), 40)]) {
		return verbs[stem(w.text)]
	}
	return noVerb
}

// verbTerm is the term of a query's first verb; -1: no item has it.
func (x *Index) verbTerm(query []word) int32 {
	for _, w := range query {
		if verbs[stem(w.text)] != noVerb {
			if id, ok := x.ids[stem(w.text)]; ok {
				return id
			}
			return -1
		}
	}
	return -1
}

// askedVerb is what a query wants done: its first verb.
func askedVerb(query []word) verb {
	const near = 8
	for i, w := range query {
		if i >= near {
			break
		}
		if v := verbs[stem(w.text)]; v != noVerb && w.kind == plain {
			return v
		}
	}
	return noVerb
}
