package prune

import (
	"regexp"
	"strconv"
	"strings"
)

// Mark is the marker of the chat and MCP doors, in English and short: ⟦PRUNED lines 27-41⟧.
// [Marker] and [SnipMarker] make those of prune_text.
type Mark struct {
	Unit       Unit
	Start, End int      // of lines and items both inclusive and from 1, of chars the end exclusive, as recover_text and recover_chars count them
	Count      int      // of members, which have no numbers
	ID         string   // of the original; "": a marker before it in the text tells it
	Same       Same     // where the lines are shown instead; zero: nowhere
	Names      []string // that are gone with the text
	Note       string   // a sentence; "": none
}

// Same names the lines of an earlier tool result that repeat the removed ones.
type Same struct {
	Call       string // id of the call that the result answers
	Start, End int    // as in a mark
}

// Unit is what the numbers of a mark count.
type Unit string

// The units.
const (
	InLines Unit = "lines" // the numbers that the text itself shows, if any; see [View]
	InChars Unit = "chars" // of the text, from 0
	InItems Unit = "items" // elements of an array of a JSON document

	InMembers   Unit = "members"          // of an object of a JSON document
	InMembersOf Unit = "members of items" // of the objects that are some elements of an array
)

const (
	markStart = "⟦PRUNED "
	markEnd   = "⟧"
	namesWord = " names: "
	sameWord  = ": same as call "
)

// NamesCost is how many additional bytes the first name costs.
const NamesCost = len(namesWord)

// String returns the marker as it is sent.
func (m Mark) String() string {
	out := append(make([]byte, 0, 96), markStart...)
	out = append(append(out, m.Unit...), ' ')
	if m.Unit != InMembers {
		out = append(strconv.AppendInt(out, int64(m.Start), 10), '-')
		out = strconv.AppendInt(out, int64(m.End), 10)
	}
	switch m.Unit {
	case InMembers:
		out = append(strconv.AppendInt(append(out, '('), int64(m.Count), 10), ')')
	case InItems:
		out = append(strconv.AppendInt(append(out, " ("...), int64(m.End-m.Start+1), 10), ')')
	}
	if m.ID != "" {
		out = append(append(out, " id="...), m.ID...)
	}
	if m.Same.Call != "" {
		out = append(append(append(out, sameWord...), m.Same.Call...), " lines "...)
		out = append(strconv.AppendInt(out, int64(m.Same.Start), 10), '-')
		out = strconv.AppendInt(out, int64(m.Same.End), 10)
	}
	if len(m.Names) > 0 {
		out = append(append(out, namesWord...), strings.Join(m.Names, ", ")...)
	}
	if m.Note != "" {
		out = append(append(out, ". "...), m.Note...)
	}
	return string(append(out, markEnd...))
}

// HasMark reports whether a text has a marker of any door or version. Those of prune_text are
// French, and the chat door's were.
func HasMark(text string) bool {
	return strings.Contains(text, markStart) || strings.Contains(text, "⟦PRUNÉ: ")
}

// ReadMarkers returns the lines that the markers with an id stand for, of any door and version, in
// order. The first marker of a door's text names the id for all. Lookalikes are ignored.
func ReadMarkers(text, id string) (blocks []Block) {
	told := false
	for {
		at := strings.Index(text, "⟦PRUN")
		if at < 0 {
			return blocks
		}
		head, rest, closed := strings.Cut(text[at:], markEnd)
		if !closed {
			return blocks
		}
		text = rest
		if b, ok := readSeedMark(head, id); ok {
			blocks = append(blocks, b)
			continue
		}
		span, of, ok := readShortMark(head)
		if told = told || ok && of == id; ok && told && (of == "" || of == id) {
			blocks = append(blocks, Block{Start: span.Start, End: span.End})
		}
	}
}

// shortMarks are the current and the previous marker of the chat door.
var shortMarks = [...]*regexp.Regexp{
	regexp.MustCompile(`^⟦PRUNED lines (\d+)-(\d+)(?: id=(\w+))?(?: hash=[0-9a-f]{24})?(?:: same as call | names: |\. |$)`),
	regexp.MustCompile(`^⟦PRUNÉ: (?:prune_id=(\w+) )?lignes (\d+)-(\d+)(?:; noms: |$)`),
}

// readShortMark reads a marker of the chat door, without its closing bracket.
func readShortMark(head string) (span Span, id string, ok bool) {
	var first, last string
	if m := shortMarks[0].FindStringSubmatch(head); m != nil {
		first, last, id = m[1], m[2], m[3]
	} else if m := shortMarks[1].FindStringSubmatch(head); m != nil {
		id, first, last = m[1], m[2], m[3]
	}
	var err1, err2 error
	span.Start, err1 = strconv.Atoi(first)
	span.End, err2 = strconv.Atoi(last)
	return span, id, err1 == nil && err2 == nil && 0 < span.Start && span.Start <= span.End
}

// ReadMark returns the lines that a marker at the start of a line stands for.
func ReadMark(line string) (lines Span, ok bool) {
	head, _, closed := strings.Cut(line, markEnd)
	if !closed || !strings.HasPrefix(head, "⟦PRUN") {
		return Span{}, false
	}
	lines, _, ok = readShortMark(head)
	return lines, ok
}

// references is the part of a marker that names another result.
var references = regexp.MustCompile(`⟦PRUNED lines \d+-\d+(?: id=\w+)?(?: hash=[0-9a-f]{24})?: same as call ([\w.:-]+) lines \d+-\d+(?:\. [^⟧]*)?⟧`)

// ReadReferences returns the calls whose results a text refers to, with repetitions.
func ReadReferences(text string) (calls []string) {
	if !strings.Contains(text, sameWord) {
		return nil
	}
	for _, m := range references.FindAllStringSubmatch(text, -1) {
		calls = append(calls, m[1])
	}
	return calls
}

var callName = regexp.MustCompile(`^[\w.:-]{1,64}$`)

// CanRefer reports whether a marker can name a call.
func CanRefer(call string) bool { return callName.MatchString(call) }
