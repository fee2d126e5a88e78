package prune

import "strings"

// isProgram reports whether the text is source code with definitions, in no other form such as a
// diff or JSON.
func (t *text) isProgram() bool {
	definitions := 0
	for _, k := range t.kind {
		if k&isStructure != 0 && k&isImport == 0 {
			definitions++
		}
	}
	const rowsOfOne = 80 // a program has at least one definition per this many rows
	return t.source == Code && t.form == Plain && definitions*rowsOfOne >= t.rows()
}

// namedDefinitions returns the lines of the definitions that a goal names. Each goes from the
// comment before its header to its closing line. A caller who names a function is about to work on
// it, so it stays whole.
func (t *text) namedDefinitions(s *shape, goal string) (out []unit) {
	words := definableWords(goal)
	if len(words) == 0 {
		return nil
	}
	most := max(namedBytes, t.lines.start(t.lines.Len()+1)/namedShare)
	for r := 0; r < t.rows(); r++ {
		if t.kind[r]&isStructure == 0 || t.kind[r]&isImport != 0 || !namesOne(t.row(r), words) {
			continue
		}
		last := r
		for last+1 < t.rows() && int(s.parent[last+1]) >= r {
			last++
		}
		first := r
		for first > 0 && t.kind[first-1]&(isComment|isDecorator) != 0 && t.line[first-1]+1 == t.line[first] {
			first--
		}
		u := unit{int(t.line[first]), int(t.line[last])}
		if size := t.lines.start(u.last+2) - t.lines.start(u.first+1); size <= most {
			most -= size
			out = append(out, u)
			r = last
		}
	}
	return out
}

const (
	namedBytes = 8000 // that named definitions may take in any text, …
	namedShare = 4    // and the share of a long one
)

// definableWords returns the words of a goal that may be names of definitions: those of several
// parts, and others that are not common in talk about files.
func definableWords(goal string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(goal, betweenWords) {
		low := strings.ToLower(word)
		if len(word) >= 3 && !emptyWords[low] && !changeWords[low] && !failWords[low] && !pointerWords[low] && !fileWords[low] {
			words[word] = true
		}
	}
	return words
}

func betweenWords(r rune) bool { return r < 0x80 && classes[r&0x7f] == sepClass }

// namesOne reports whether a header defines one of the words: before its brackets, after those of a
// receiver.
func namesOne(line string, words map[string]bool) bool {
	line = line[:min(len(line), 300)]
	if strings.HasPrefix(line, "func (") {
		_, line, _ = strings.Cut(line, ")")
	}
	if i := strings.IndexAny(line, "({=["); i >= 0 {
		line = line[:i]
	}
	for word := range strings.FieldsFuncSeq(line, betweenWords) {
		if words[word] {
			return true
		}
	}
	return false
}

// fileWords are what agents say when they read any file.
var fileWords = wordSet(`read reading file files code source check view open function method class type module package main
current existing next first start key full content contents relevant remaining related implementation test tests list get set`)
