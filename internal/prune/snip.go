package prune

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Snip is a removed part of one huge line; the line stays. Minified code and packed data are such
// lines, and cutting whole lines would take all or nothing.
type Snip struct {
	Line       int // from 1
	Start, End int // characters of the text, from 0, End exclusive, as in recover_chars
	Reason     string

	from, to int // the same in bytes
}

// Chars returns the number of removed characters.
func (s Snip) Chars() int { return s.End - s.Start }

// SnipMarker returns the marker for a removed part of a line.
func SnipMarker(id string, s Snip) string {
	return "⟦PRUNÉ: prune_id=" + id + " caractères " + strconv.Itoa(s.Start) + "-" + strconv.Itoa(s.End) + " (" + strconv.Itoa(s.Chars()) + ") raison=" + s.Reason + "⟧"
}

// Splice replaces each snip by its marker. The text must be the one the snips were made for.
func Splice(text string, snips []Snip, marker func(Snip) string) string {
	var b strings.Builder
	at := 0
	for _, s := range snips {
		b.WriteString(text[at:s.from])
		b.WriteString(marker(s))
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// piece is a part of a huge line, split at its own delimiters.
type piece struct{ from, to, depth int }

const (
	shortPiece = 40  // minimum bytes of a piece
	longPiece  = 400 // maximum, unless it is one word
)

// linePieces splits a line after brackets, commas and semicolons, outside of strings unless they
// are long.
func linePieces(line string) (out []piece) {
	from, depth, at := 0, 0, 0
	quote := byte(0)
	cut := func(to int) {
		if to > from {
			out = append(out, piece{from, to, at})
			from, at = to, depth
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		if i-from >= longPiece && utf8.RuneStart(c) && (classes[c] == sepClass || i-from >= 2*longPiece) {
			cut(i)
			quote = 0
		}
		if quote != 0 {
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
			continue
		}
		switch c {
		case '"', '\'', '`':
			quote = c
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth = max(0, depth-1)
		}
		if (c == ',' || c == ';' || c == '}' || c == ']' || c == '>' || c == '{') && i+1-from >= shortPiece {
			cut(i + 1)
		}
	}
	cut(len(line))
	return out
}

// snips decides which parts of a line go, so that at most about share of it does. The first and the
// last piece stay: they show what the line is.
func snips(req Request, line string, share float64) (out []piece) {
	all := linePieces(line)
	const few = 4
	if len(all) < few || share <= 0 {
		return nil
	}
	var b strings.Builder
	for _, p := range all {
		b.WriteString(strings.Repeat(" ", min(p.depth, 20)))
		b.WriteString(strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, line[p.from:p.to]))
		b.WriteByte('\n')
	}
	plan := Plan(Request{
		Text: b.String(), Goal: req.Goal, Parts: req.Parts, Source: Code, MaxPruneRatio: share, Structure: Enclosing, Fill: true, Expired: req.Expired,
		Marker: req.Marker,
	})
	left := int(share * float64(len(line)))
	for _, block := range plan.Blocks {
		first, last := max(block.Start-1, 1), min(block.End-1, len(all)-2)
		for last >= first && all[last].to-all[first].from > left {
			last--
		}
		if last < first {
			continue
		}
		p := piece{all[first].from, all[last].to, 0}
		out = append(out, p)
		left -= p.to - p.from
	}
	return out
}

// snipLines finds the parts to remove from the huge lines that a plan keeps.
func snipLines(req Request, lines Lines, blocks []Block) (out []Snip) {
	if req.Marker == nil || !(req.MaxPruneRatio > 0) {
		return nil
	}
	next := 0
	chars, counted := 0, 0
	for i := 1; i <= lines.Len(); i++ {
		for next < len(blocks) && blocks[next].End < i {
			next++
		}
		whole := lines.Line(i)
		line := trimLine(whole)
		if len(line) <= hugeLine || next < len(blocks) && blocks[next].Start <= i {
			continue
		}
		start := lines.start(i)
		for _, p := range snips(req, line, min(req.MaxPruneRatio, 1)) {
			s := Snip{Line: i, Reason: shortReason, from: start + p.from, to: start + p.to}
			s.Start = chars + utf8.RuneCountInString(lines.text[counted:s.from])
			s.End = s.Start + utf8.RuneCountInString(lines.text[s.from:s.to])
			chars, counted = s.End, s.to
			body := lines.text[s.from:s.to]
			mark := SnipMarker(CostlyID, s)
			if req.Source.Tokens(body) > req.Source.Tokens(mark)+2 && len(body) > len(mark) {
				out = append(out, s)
			}
		}
	}
	return out
}
