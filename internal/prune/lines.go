package prune

import (
	"math"
	"strconv"
	"strings"
)

// Lines finds the lines of a text. A line ends with its "\n", which belongs to it; a lone "\r" ends
// nothing. The empty text has no line. A text without a final "\n" still has a last line.
type Lines struct {
	text   string
	starts []uint32 // of every line
}

// MaxText is the longest text, in bytes, that is split into lines. A longer one counts as a single
// line and is never cut.
const MaxText = math.MaxUint32

// IndexLines finds the lines of text.
func IndexLines(text string) Lines {
	if text == "" {
		return Lines{}
	}
	if len(text) > MaxText {
		return Lines{text: text, starts: make([]uint32, 1)}
	}
	n := strings.Count(text, "\n")
	if text[len(text)-1] != '\n' {
		n++
	}
	starts := make([]uint32, 1, n)
	for at := 0; len(starts) < n; {
		at += strings.IndexByte(text[at:], '\n') + 1
		starts = append(starts, uint32(at)) //nolint:gosec // bounded by MaxText above
	}
	return Lines{text: text, starts: starts}
}

// Len returns the number of lines.
func (l Lines) Len() int { return len(l.starts) }

// Line returns line i, from 1, with its line ending.
func (l Lines) Line(i int) string { return l.Range(i, i) }

// Range returns the bytes of lines start to end, from 1 and inclusive, with the last line ending.
// Numbers outside the text are clamped; an empty range gives the empty string.
func (l Lines) Range(start, end int) string {
	start, end = max(start, 1), min(end, len(l.starts))
	if start > end {
		return ""
	}
	return l.text[l.start(start):l.start(end+1)]
}

// start returns the offset of line i, from 1; after the last line it is the text's length.
func (l Lines) start(i int) int {
	if i > len(l.starts) {
		return len(l.text)
	}
	return int(l.starts[i-1])
}

// Span is a range of line numbers, from 1, both inclusive.
type Span struct{ Start, End int }

// Recover joins the lines of the spans in the given order. If numbered, each line follows its
// number and "│ ". A line without a line ending gets one if more follows. So every output line is a
// line of the text.
func (l Lines) Recover(spans []Span, numbered bool) string {
	size := 0
	for _, s := range spans {
		size += len(l.Range(s.Start, s.End)) + 1
	}
	out := make([]byte, 0, size)
	for _, s := range spans {
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if !numbered {
			out = append(out, l.Range(s.Start, s.End)...)
			continue
		}
		for i := max(1, s.Start); i <= min(s.End, l.Len()); i++ {
			out = appendNumbered(out, i, l.Line(i))
		}
	}
	return string(out)
}

func appendNumbered(dst []byte, number int, line string) []byte {
	dst = strconv.AppendInt(dst, int64(number), 10)
	dst = append(dst, "│ "...)
	return append(dst, line...)
}
