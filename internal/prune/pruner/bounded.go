package pruner

import (
	"strconv"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// selection is a set of lines that may be too long for one response.
type selection struct {
	lines    prune.Lines
	view     prune.View
	spans    []prune.Span // as requested
	places   []prune.Span // their positions in the text
	numbered bool
	isInner  bool // lines of a text inside a JSON string, which recover_chars cannot address
}

// within returns the lines that fit into limit characters, and how to go on. Of a first line that
// does not fit it returns the beginning.
func (s selection) within(limit int) recovered {
	room := limit
	for i, place := range s.places {
		for n := place.Start; n <= min(place.End, s.lines.Len()); n++ {
			size := s.size(n)
			if size > room {
				return s.upTo(i, n, limit)
			}
			room -= size
		}
	}
	return recovered{text: s.lines.Recover(s.places, s.numbered), spans: s.spans}
}

// size returns the characters of a line in a response.
func (s selection) size(n int) int {
	line := s.lines.Line(n)
	size := rawjson.Chars(line)
	if !strings.HasSuffix(line, "\n") {
		size++ // Recover may add a line ending
	}
	if s.numbered {
		size += len(strconv.Itoa(n)) + len("│ ")
	}
	return size
}

// upTo returns everything before line n of the i-th range.
func (s selection) upTo(i, n, limit int) recovered {
	start := s.places[i].Start
	if i == 0 && n == start {
		return s.beginningOf(n, limit)
	}
	rec := recovered{spans: append([]prune.Span(nil), s.spans[:i]...), next: s.from(i, n, limit)}
	places := append([]prune.Span(nil), s.places[:i]...)
	if n > start {
		done := prune.Span{Start: start, End: n - 1}
		places = append(places, done)
		if shown, ok := s.view.Shown(done); ok {
			done = shown
		}
		rec.spans = append(rec.spans, prune.Span{Start: s.spans[i].Start, End: done.End})
	}
	rec.text = s.lines.Recover(places, s.numbered)
	return rec
}

// beginningOf returns the beginning of a line that is too long.
func (s selection) beginningOf(n, limit int) recovered {
	line := s.lines.Line(n)
	rec := recovered{text: line[:skipChars(line, limit)], spans: []prune.Span{{Start: s.spans[0].Start, End: s.spans[0].Start}}}
	if s.isInner {
		rec.next = s.linesFrom(0, s.spans[0].Start, s.size(n))
		return rec
	}
	before := rawjson.Chars(s.lines.Range(1, n-1))
	rec.next = charsFrom(before+limit, before+rawjson.Chars(s.lines.Range(n, s.places[0].End)))
	return rec
}

// from returns the call for everything from line n of the i-th range.
func (s selection) from(i, n, limit int) *nextCall {
	if n == s.places[i].Start {
		return s.linesFrom(i, s.spans[i].Start, limit)
	}
	rest := prune.Span{Start: n, End: s.spans[i].End}
	shown, ok := s.view.Shown(prune.Span{Start: n, End: n})
	if ok {
		rest.Start = shown.Start
		ok = s.view.Place(rest).Start > s.places[i].Start // else it would begin again
	}
	if ok || s.isInner {
		return s.linesFrom(i, rest.Start, limit)
	}
	before := rawjson.Chars(s.lines.Range(1, n-1))
	return charsFrom(before, before+rawjson.Chars(s.lines.Range(n, s.places[i].End)))
}

// maxNextSpans limits the ranges of a next call.
const maxNextSpans = 20

func (s selection) linesFrom(i, start, limit int) *nextCall {
	rest := append([]prune.Span{{Start: start, End: s.spans[i].End}}, s.spans[i+1:]...)
	out := appendSpans(nil, rest[:min(len(rest), maxNextSpans)])
	out = appendBool(out, "include_line_numbers", s.numbered)
	return &nextCall{tool: "recover_text", arguments: appendInt(out, argMaxChars, limit)}
}

// nextCall is the call that returns what a response had no room for.
type nextCall struct {
	tool      string
	arguments []byte // members, without the id
}

// charsFrom returns the call for characters from start up to end.
func charsFrom(start, end int) *nextCall {
	out := strconv.AppendInt([]byte(`"start":`), int64(start), 10)
	return &nextCall{tool: "recover_chars", arguments: appendInt(out, "end", end)}
}

// append appends the member next.
func (c *nextCall) append(out []byte, id string) []byte {
	out = append(append(append(out, `,"next":{"tool":"`...), c.tool...), `","arguments":{"prune_id":`...)
	out = append(rawjson.AppendQuoted(out, id), ',')
	return append(append(out, c.arguments...), `}}`...)
}
