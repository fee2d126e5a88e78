package prune

import (
	"math"
	"slices"
	"strings"
)

// View is a text's own numbering of its lines, as a tool shows a part of a file: " 101→text".
// Readers refer to lines by these numbers. The zero value is a text without numbers: its lines
// count from 1.
type View struct {
	lines   []int // lines with a number, from 1
	numbers []int // their numbers, increasing
	total   int   // lines of the text
}

// ViewOf finds the line numbers that a tool wrote before the lines of a file. It returns the zero
// View if they do not increase, as when two files are shown, or equal the position. Data that
// begins with numbers is no view either.
func ViewOf(lines Lines) View {
	shown := NumbersOf(lines)
	if shown == (Numbers{}) {
		return View{}
	}
	v := View{total: lines.Len()}
	last, counts := 0, true
	for i := 1; i <= v.total; i++ {
		n, size := shown.Read(lines.Line(i))
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

// Numbers reads the numbers that a tool wrote before the lines of a file. The zero value reads none.
type Numbers struct{ form numberForm }

// NumbersOf finds the form of the line numbers of a shown file. The zero value: it has none.
func NumbersOf(lines Lines) Numbers {
	deco := findDecoration(lines, Code)
	if deco.kind != numberPrefix || !isShownFile(lines, deco.number) {
		return Numbers{}
	}
	return Numbers{deco.number}
}

// Read returns the number before a line, and the bytes that it takes with its separator; 0: none.
func (n Numbers) Read(line string) (number, size int) {
	if n == (Numbers{}) {
		return 0, 0
	}
	return n.form.read(trimLine(line))
}

// paddedNumber is the width to which tools pad line numbers, as cat -n does.
const paddedNumber = 5

// isShownFile reports whether numbers have a form in which tools show files: before an arrow,
// padded, below a tag such as <content>, or before a tab and starting at a later line.
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

// Shown returns the shown numbers of lines, given by their position in the text; false: they have
// none.
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

// Place returns the position of the lines with the numbers of a span, including the unnumbered
// lines around them. A span without any of the text's numbers counts lines from 1, and so does one
// that covers all numbers.
func (v View) Place(s Span) Span {
	first, _ := slices.BinarySearch(v.numbers, s.Start)
	end, _ := slices.BinarySearch(v.numbers, min(s.End, math.MaxInt-1)+1)
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

// Last returns the last shown number; 0: none.
func (v View) Last() int {
	if v.numbers == nil {
		return 0
	}
	return v.numbers[len(v.numbers)-1]
}
