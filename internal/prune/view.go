package prune

import (
	"slices"
	"strings"
)

// View is how a text numbers its lines itself, as what a tool shows of a file does: "   101→text". Who reads it knows lines by
// these numbers. The zero value is of a text without numbers: its lines count from 1.
type View struct {
	lines   []int // that bear a number, from 1
	numbers []int // of these, growing
	total   int   // lines of the text
}

// ViewOf finds the numbers that a tool wrote before the lines of a file. Where they do not grow from line to line, as where two
// files are shown, or tell no more than counting does, there is no view. Data that begins with numbers is no view either.
func ViewOf(lines Lines) View {
	deco := findDecoration(lines, Code)
	if deco.kind != numberPrefix || !isShownFile(lines, deco.number) {
		return View{}
	}
	v := View{total: lines.Len()}
	last, counts := 0, true
	for i := 1; i <= v.total; i++ {
		n, size := deco.number.read(trimLine(lines.Line(i)))
		if size == 0 {
			continue
		}
		if n <= last {
			return View{}
		}
		last, counts = n, counts && n == i
		v.lines, v.numbers = append(v.lines, i), append(v.numbers, n)
	}
	if counts {
		return View{}
	}
	return v
}

// paddedNumber is the width to which tools pad the numbers of lines, as cat -n does.
const paddedNumber = 5

// isShownFile reports whether numbers are in a form in which tools show files: before an arrow, padded, below a tag such as <content>, or
// before a tab and from a later line on.
func isShownFile(lines Lines, form numberForm) bool {
	if form.after == "→" {
		return true
	}
	for i := 1; i <= lines.Len(); i++ {
		if n, size := form.read(trimLine(lines.Line(i))); size > 0 {
			below := i > 1 && strings.HasPrefix(lines.Line(1), "<")
			return size-len(form.after) >= paddedNumber || below || form.after == "\t" && i == 1 && n > 1
		}
	}
	return false
}

// Shown gives the numbers that stand in lines, given by their place in the text; false: none does.
func (v View) Shown(s Span) (Span, bool) {
	if v.numbers == nil {
		return s, true
	}
	first, _ := slices.BinarySearch(v.lines, s.Start)
	end, _ := slices.BinarySearch(v.lines, s.End+1)
	if first >= end {
		return Span{}, false
	}
	return Span{v.numbers[first], v.numbers[end-1]}, true
}

// Place is where the lines that bear the numbers of a span are in the text, with those without a number around them. A span in
// which the text has no number counts lines from 1, and so does one that reaches over all numbers.
func (v View) Place(s Span) Span {
	first, _ := slices.BinarySearch(v.numbers, s.Start)
	end, _ := slices.BinarySearch(v.numbers, s.End+1)
	if first >= end || s.Start > s.End {
		return s
	}
	out := Span{1, v.total}
	if first > 0 {
		out.Start = v.lines[first-1] + 1
	}
	if end < len(v.lines) {
		out.End = v.lines[end] - 1
	}
	return out
}

// Last is the number of the last line that bears one; 0: none does.
func (v View) Last() int {
	if v.numbers == nil {
		return 0
	}
	return v.numbers[len(v.numbers)-1]
}
