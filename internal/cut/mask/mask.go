package mask

import (
	"cmp"
	"regexp"
	"slices"

	"secateur/internal/rawjson"
)

// A Masker cuts by its settings. It is safe for concurrent use.
type Masker struct {
	settings      Settings
	marker        marker
	pattern       *regexp.Regexp // the marker in a decoded string
	longestMarker int            // in characters
}

// New returns a Masker, or the mistakes in the settings.
func New(s Settings) (*Masker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	t, err := parseMarker(s.Marker)
	if err != nil {
		return nil, err
	}
	m := &Masker{settings: s, marker: t.marker()}
	m.pattern, m.longestMarker = t.pattern()
	return m, nil
}

// A Cut is a string to be cut.
type Cut struct {
	Chars int    // length of the original
	ID    string // id of the original, for markers that name it; set by the caller
	Tool  string // name of the tool that gives characters back, for markers; set by the caller
	Out   []byte // a JSON value in place of the string, set by the caller; nil: head, marker and tail

	JSON       bool // the value is cut itself, not a string
	Room       int  // characters that may be left of it
	Head, Tail int  // characters that the marker leaves of its beginning and end

	start, end         int // the string in the document, with quotes
	headEnd, tailStart int // the marker replaces what lies between
}

// Text returns the decoded original. A lone surrogate is encoded as in rawjson. Of a value that is
// not a string it is the JSON.
func (c *Cut) Text(doc []byte) string {
	if c.JSON {
		return string(doc[c.start:c.end])
	}
	return rawjson.Unquote(doc[c.start:c.end])
}

// Whole returns a cut of the value at a span of the document, to about room characters. The caller
// has to set Out.
func Whole(at rawjson.Span, chars, room int) Cut {
	c := Replace(at, chars, nil)
	c.JSON, c.Room = true, room
	return c
}

// Replace returns the cut that puts a value in place of the one at a span of the document.
func Replace(at rawjson.Span, chars int, value []byte) Cut {
	return Cut{Chars: chars, Out: value, start: at.Start, end: at.End, headEnd: at.Start, tailStart: at.End}
}

// Within reports whether the string lies in a span of the document.
func (c *Cut) Within(at rawjson.Span) bool { return at.Start <= c.start && c.end <= at.End }

// SortCuts puts cuts in the order of the document.
func SortCuts(cuts []Cut) {
	slices.SortFunc(cuts, func(a, b Cut) int { return cmp.Compare(a.start, b.start) })
}

// LongString returns the number of characters above which a string is a candidate.
func (m *Masker) LongString() int { return m.settings.MaxChars }

// Cuts returns the cuts to make in doc, in document order. long are its strings of more than
// LongString characters, in the same order.
func (m *Masker) Cuts(doc []byte, long []rawjson.String) []Cut {
	if len(long) == 0 {
		return nil
	}
	if m.settings.ExemptMedia {
		long = withoutMedia(doc, long)
	}
	return m.cuts(doc, long, m.settings.MaxChars)
}

// cuts makes a cut of each string that is longer than room and not already masked. In less room
// than max_chars, head and tail shrink alike.
func (m *Masker) cuts(doc []byte, long []rawjson.String, room int) []Cut {
	head, tail := m.settings.HeadChars, m.settings.TailChars
	if most := m.settings.MaxChars; room < most {
		head, tail = scaled(head, room, most), scaled(tail, room, most)
	}
	cuts := make([]Cut, 0, len(long))
	for i := range long {
		s := &long[i]
		if s.Chars <= room || m.isMasked(doc, s) {
			continue
		}
		raw := doc[s.Start:s.End]
		cuts = append(cuts, Cut{
			Chars: s.Chars, Room: room, Head: head, Tail: tail,
			start:     s.Start,
			end:       s.End,
			headEnd:   s.Start + rawjson.HeadEnd(raw, head),
			tailStart: s.Start + rawjson.TailStart(raw, tail),
		})
	}
	return cuts
}

// scaled returns n·part/whole, whatever their size.
func scaled(n, part, whole int) int { return int(float64(n) * float64(part) / float64(whole)) }

// isMasked reports whether a string contains our marker, and exceeds the limit by no more than
// that.
func (m *Masker) isMasked(doc []byte, s *rawjson.String) bool {
	excess := s.Chars - m.settings.MaxChars
	if excess > m.longestMarker {
		return false
	}
	text := rawjson.Unquote(doc[s.Start:s.End])
	for _, at := range m.pattern.FindAllStringIndex(text, -1) {
		if excess <= rawjson.Chars(text[at[0]:at[1]]) {
			return true
		}
	}
	return false
}

// Append appends doc with the cuts made. cuts are those that Cuts returned, except any that the
// caller dropped.
func (m *Masker) Append(dst, doc []byte, cuts []Cut) []byte {
	size := len(doc)
	for i := range cuts {
		if cuts[i].Out != nil {
			size += len(cuts[i].Out) - (cuts[i].end - cuts[i].start)
			continue
		}
		size += m.marker.size() + len(cuts[i].ID) + len(cuts[i].Tool) - (cuts[i].tailStart - cuts[i].headEnd)
	}
	dst = slices.Grow(dst, size)
	done := 0
	for i := range cuts {
		if cuts[i].Out != nil {
			dst = append(append(dst, doc[done:cuts[i].start]...), cuts[i].Out...)
			done = cuts[i].end
			continue
		}
		dst = append(dst, doc[done:cuts[i].headEnd]...)
		dst = m.marker.append(dst, &cuts[i])
		done = cuts[i].tailStart
	}
	return append(dst, doc[done:]...)
}

// maxDepth limits the nesting of documents for Mask.
const maxDepth = 10000

// Mask returns doc, any JSON value, with all cuts made, and the cuts. Without cuts it returns doc
// itself.
func (m *Masker) Mask(doc []byte) ([]byte, []Cut, error) {
	long, err := rawjson.LongStrings(doc, maxDepth, m.LongString())
	if err != nil {
		return nil, nil, err
	}
	cuts := m.Cuts(doc, long)
	if len(cuts) == 0 {
		return doc, nil, nil
	}
	return m.Append(nil, doc, cuts), cuts, nil
}
