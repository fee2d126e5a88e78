package chat

import (
	"cmp"
	"slices"
	"strings"

	"secateur/internal/llm/bpe"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// A marker with only the number of removed lines leaves the model to guess their contents. So it
// also names identifiers that occur nowhere in the rest, those defined there first: a name is
// enough to know what to ask for.

// name is an identifier in a pruned text.
type name struct {
	text    string
	block   int // the first cut block that has it
	count   int // occurrences in the cut text
	defined bool
}

// renderPruned returns the text without the blocks, with a marker in place of each, and the number
// of characters in markers. The first marker has the id, which is the same for all. A block with no
// more tokens than its marker stays. Lines that are shown elsewhere go, too.
func (r rendering) renderPruned(blocks []prune.Block, room int, known func(name string) bool) (out string, markers int) {
	for _, ref := range r.refs {
		blocks = without(blocks, []prune.Span{ref.lines})
	}
	blocks = worthMarking(r.lines, blocks)
	names := namesOf(r.lines, blocks, room, known)
	var b strings.Builder
	next := 1
	write := func(lines prune.Span, marker string) {
		b.WriteString(r.lines.Range(next, lines.Start-1) + marker)
		markers += len(marker) + 1
		b.WriteByte('\n')
		next = lines.End + 1
	}
	refs := r.refs
	isFirst := true
	refer := func(until int) {
		for ; len(refs) > 0 && refs[0].lines.Start < until; refs = refs[1:] {
			write(refs[0].lines, r.referring(refs[0], isFirst))
			isFirst = false
		}
	}
	for i, block := range blocks {
		refer(block.Start)
		body := r.lines.Range(block.Start, block.End)
		for len(names[i]) > 0 && !savesTokens(body, r.mark(block, false, names[i])) {
			names[i] = names[i][:len(names[i])-1]
		}
		write(prune.Span{Start: block.Start, End: block.End}, r.mark(block, isFirst, names[i]))
		isFirst = false
	}
	refer(r.lines.Len() + 1)
	b.WriteString(r.lines.Range(next, r.lines.Len()))
	return b.String(), markers
}

// referring returns the marker for lines that are shown elsewhere.
func (r rendering) referring(ref sameLines, isFirst bool) string {
	shown, _ := r.view.Shown(ref.lines)
	return r.told(prune.Mark{Unit: prune.InLines, Start: shown.Start, End: shown.End, Same: ref.same}, isFirst)
}

// worthReferring returns the references with more tokens than their markers, whichever is the first
// of the text.
func (r rendering) worthReferring(refs []sameLines) (out []sameLines) {
	r.id = prune.CostlyID
	for _, ref := range refs {
		if savesTokens(r.lines.Range(ref.lines.Start, ref.lines.End), r.referring(ref, true)) {
			out = append(out, ref)
		}
	}
	return out
}

// rendering is a text whose markers are being written.
type rendering struct {
	text  string
	lines prune.Lines
	view  prune.View
	stay  []prune.Span // lines that are never cut
	id    string       // of the original
	by    Recovery     // for its first marker
	refs  []sameLines  // lines that are shown elsewhere, in order
}

func newRendering(text, id string, by Recovery) rendering {
	lines := prune.IndexLines(text)
	return rendering{text: text, lines: lines, view: prune.ViewOf(lines), stay: harnessLines(lines), id: id, by: by}
}

// stays reports whether a line is never cut.
func (r rendering) stays(line int) bool {
	return slices.ContainsFunc(r.stay, func(s prune.Span) bool { return s.Start <= line && line <= s.End })
}

// mark returns the marker line for a block. In a text with line numbers, lines without one are
// identified by characters.
func (r rendering) mark(b prune.Block, isFirst bool, names []string) string {
	m := prune.Mark{Unit: prune.InLines, Names: names}
	shown, ok := r.view.Shown(prune.Span{Start: b.Start, End: b.End})
	if m.Start, m.End = shown.Start, shown.End; !ok {
		m.Unit, m.Start = prune.InChars, rawjson.Chars(r.lines.Range(1, b.Start-1))
		m.End = m.Start + rawjson.Chars(r.lines.Range(b.Start, b.End))
	}
	return r.told(m, isFirst)
}

// told returns a marker; the first of a text has the id.
func (r rendering) told(m prune.Mark, isFirst bool) string {
	if isFirst {
		m.ID = r.id
		m.Note = r.by.note(m)
	}
	return m.String()
}

// worthMarking returns the blocks with more tokens than their markers without names.
func worthMarking(lines prune.Lines, blocks []prune.Block) (out []prune.Block) {
	tells := prune.CostlyID
	for _, b := range blocks {
		if savesTokens(lines.Range(b.Start, b.End), blockMark(b, tells)) {
			out = append(out, b)
			tells = ""
		}
	}
	return out
}

// savesTokens reports whether lines have more tokens than their marker, counted exactly.
func savesTokens(body, marker string) bool {
	cost := bpe.Count(marker + "\n")
	const surely = 64 // bytes; few tokens are longer
	return len(body) > surely*cost || bpe.Count(body) > cost
}

// shortMarker returns a marker without id and names.
func shortMarker(b prune.Block) string { return blockMark(b, "") }

func blockMark(b prune.Block, id string) string {
	return prune.Mark{Unit: prune.InLines, Start: b.Start, End: b.End, ID: id}.String()
}

// namesOf chooses for each block the removed names that occur nowhere else and are not known. The
// most telling come first, as many as fit into room characters. known may be nil.
func namesOf(lines prune.Lines, blocks []prune.Block, room int, known func(name string) bool) [][]string {
	kept := make(map[string]bool)
	next := 1
	for _, b := range blocks {
		eachName(lines.Range(next, b.Start-1), func(word string, _ bool) { kept[word] = true })
		next = b.End + 1
	}
	eachName(lines.Range(next, lines.Len()), func(word string, _ bool) { kept[word] = true })

	var all []name
	at := make(map[string]int)
	for i, b := range blocks {
		eachName(lines.Range(b.Start, b.End), func(word string, defined bool) {
			if kept[word] {
				return
			}
			j, ok := at[word]
			if !ok {
				if known != nil && known(word) {
					return
				}
				j = len(all)
				at[word] = j
				all = append(all, name{text: word, block: i})
			}
			all[j].count++
			all[j].defined = all[j].defined || defined
		})
	}
	slices.SortStableFunc(all, func(a, b name) int {
		if a.defined != b.defined {
			if a.defined {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.count, a.count)
	})
	chosen := make([][]string, len(blocks))
	left := make([]int, len(blocks)) // names take at most a third of the removed text
	for i, b := range blocks {
		left[i] = len(lines.Range(b.Start, b.End))/3 - prune.NamesCost
	}
	for _, n := range all {
		cost := len(n.text) + len(", ")
		if len(chosen[n.block]) == 0 {
			cost += prune.NamesCost
		}
		if cost > room || cost > left[n.block] {
			continue
		}
		room -= cost
		left[n.block] -= cost
		chosen[n.block] = append(chosen[n.block], n.text)
	}
	return chosen
}

// minName and maxName bound the length of names worth listing: longer ones are hashes and data.
const (
	minName = 6
	maxName = 40
)

// eachName finds the identifiers of a text: words with an underscore, a digit or an inner capital,
// but no plain numbers. A name is defined where it is the first on its line after a defining word.
func eachName(text string, yield func(word string, defined bool)) {
	for line := range strings.Lines(text) {
		previous := ""
		for i := 0; i < len(line); {
			if !isWordByte(line[i]) {
				i++
				continue
			}
			start := i
			for i < len(line) && isWordByte(line[i]) {
				i++
			}
			word := line[start:i]
			if len(word) >= minName && len(word) <= maxName && isName(word) {
				yield(word, defines[previous])
			}
			previous = word
		}
	}
}

var defines = wordSet("def class func function fn type struct interface enum trait const let var module package impl async")

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// isName distinguishes identifiers from plain words and numbers.
func isName(w string) bool {
	digits, shaped := 0, false
	for i := range len(w) {
		c := w[i]
		switch {
		case isDigit(c):
			digits++
			shaped = true
		case c == '_':
			shaped = true
		case i > 0 && c < 'a' && w[i-1] >= 'a':
			shaped = true
		case i > 1 && c >= 'a' && w[i-1] < 'a' && isLetter(w[i-1]) && w[i-2] < 'a' && isLetter(w[i-2]):
			shaped = true
		}
	}
	return shaped && 2*digits <= len(w)
}
