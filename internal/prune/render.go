package prune

import (
	"strconv"
	"strings"
)

// Annotation describes one cut in a response.
type Annotation struct {
	Kind      string `json:"kind"` // "pruned_block", or "pruned_chars" for a part of a huge line
	StartLine int    `json:"original_start_line"`
	EndLine   int    `json:"original_end_line"`
	Count     int    `json:"pruned_line_count"`
	Reason    string `json:"reason"`
	Marker    string `json:"marker"`

	// For kind "pruned_chars": characters of the text, from 0, end exclusive.
	StartChar int `json:"original_start_char,omitempty"`
	EndChar   int `json:"original_end_char,omitempty"`
}

// Render returns the text that a plan leaves, and the description of every cut. Kept lines keep
// their bytes; with annotate each follows its number in the original. With markers, a marker line
// without a number replaces each block. Without both, the kept lines are unchanged. The text must
// be the one the plan was made for.
func Render(text string, res Result, id string, annotate, markers bool) (string, []Annotation) {
	notes := make([]Annotation, 0, len(res.Blocks))
	for _, b := range res.Blocks {
		notes = append(notes, Annotation{
			Kind: "pruned_block", StartLine: b.Start, EndLine: b.End, Count: b.Count(), Reason: b.Reason, Marker: Marker(id, b),
		})
	}
	if len(res.Blocks) == 0 && len(res.Snips) == 0 && !annotate {
		return text, notes
	}
	lines := IndexLines(text)
	if len(res.Snips) > 0 && markers {
		return renderSnipped(lines, res, id, annotate, notes)
	}
	out := make([]byte, 0, renderedSize(lines, res, notes, annotate, markers))
	next := 1
	keepUntil := func(end int) { // lines next … end stay
		if !annotate {
			out = append(out, lines.Range(next, end)...)
		}
		for ; annotate && next <= end; next++ {
			out = appendNumbered(out, next, lines.Line(next))
		}
	}
	for i, b := range res.Blocks {
		keepUntil(b.Start - 1)
		next = b.End + 1
		if markers {
			out = append(out, notes[i].Marker...)
			if next <= lines.Len() || strings.HasSuffix(text, "\n") {
				out = append(out, '\n')
			}
		}
	}
	keepUntil(lines.Len())
	return string(out), notes
}

// renderSnipped is Render for a plan that removes parts of lines.
func renderSnipped(lines Lines, res Result, id string, annotate bool, blocks []Annotation) (string, []Annotation) {
	var out []byte
	var notes []Annotation
	block, snip := 0, 0
	for i := 1; i <= lines.Len(); i++ {
		if block < len(res.Blocks) && res.Blocks[block].Start == i {
			out = append(out, blocks[block].Marker...)
			notes = append(notes, blocks[block])
			i = res.Blocks[block].End
			if strings.HasSuffix(lines.Line(i), "\n") {
				out = append(out, '\n')
			}
			block++
			continue
		}
		if annotate {
			out = appendNumbered(out, i, "")
		}
		at, end := lines.start(i), lines.start(i+1)
		for ; snip < len(res.Snips) && res.Snips[snip].Line == i; snip++ {
			s := res.Snips[snip]
			marker := SnipMarker(id, s)
			out = append(append(out, lines.text[at:s.from]...), marker...)
			notes = append(notes, Annotation{
				Kind: "pruned_chars", StartLine: i, EndLine: i, Reason: s.Reason, Marker: marker, StartChar: s.Start, EndChar: s.End,
			})
			at = s.to
		}
		out = append(out, lines.text[at:end]...)
	}
	return string(out), notes
}

// CostlyID is an id with the highest estimated number of tokens. Decisions use markers with this
// id: a text has a different id on every machine, but must be cut alike on all of them.
const CostlyID = "prn_84S4W3Z55Z4G9Y3X2Z0W9M22K9"

// Marker returns the marker line of a cut.
func Marker(id string, b Block) string {
	m := make([]byte, 0, 96)
	m = append(m, "⟦PRUNÉ: prune_id="...)
	m = append(m, id...)
	m = append(m, " lignes "...)
	m = strconv.AppendInt(m, int64(b.Start), 10)
	m = append(m, '-')
	m = strconv.AppendInt(m, int64(b.End), 10)
	m = append(m, " ("...)
	m = strconv.AppendInt(m, int64(b.Count()), 10)
	m = append(m, ") raison="...)
	m = append(m, b.Reason...)
	m = append(m, "⟧"...)
	return string(m)
}

// renderedSize returns an upper bound of the rendered text's length.
func renderedSize(lines Lines, res Result, notes []Annotation, annotate, markers bool) int {
	size, next := 0, 1
	for i, b := range res.Blocks {
		size += len(lines.Range(next, b.Start-1))
		next = b.End + 1
		if markers {
			size += len(notes[i].Marker) + 1
		}
	}
	size += len(lines.Range(next, lines.Len()))
	if annotate {
		size += res.Kept * (len(strconv.Itoa(res.Lines)) + len("│ "))
	}
	return size
}
