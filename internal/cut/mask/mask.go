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
	m := &Masker{settings: s, marker: t.marker(s)}
	m.pattern, m.longestMarker = t.pattern()
	return m, nil
}

// A Cut is a string to be cut.
type Cut struct {
	Chars int    // length of the original
	ID    string // id of the original, for markers that name it; set by the caller
	Out   []byte // a JSON value in place of the string, set by the caller; nil: head, marker and tail

	start, end         int // the string in the document, with quotes
	headEnd, tailStart int // the marker replaces what lies between
}

// Text returns the decoded original. A lone surrogate is encoded as in rawjson.
func (c *Cut) Text(doc []byte) string { return rawjson.Unquote(doc[c.start:c.end]) }

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

// KeptChars returns the number of characters left of a cut string, without the marker.
func (m *Masker) KeptChars() int { return m.settings.HeadChars + m.settings.TailChars }

// Cuts returns the cuts to make in doc, in document order. long are its strings of more than
// LongString characters, in the same order.
func (m *Masker) Cuts(doc []byte, long []rawjson.String) []Cut {
	if len(long) == 0 {
		return nil
	}
	if m.settings.ExemptMedia {
		long = withoutMedia(doc, long)
	}
	return m.cuts(doc, long)
}

// cuts makes a cut of each string that is too long and not already masked.
func (m *Masker) cuts(doc []byte, long []rawjson.String) []Cut {
	cuts := make([]Cut, 0, len(long))
	for i := range long {
		s := &long[i]
		if s.Chars <= m.settings.MaxChars || m.isMasked(doc, s) {
			continue
		}
		raw := doc[s.Start:s.End]
		cuts = append(cuts, Cut{
			Chars:     s.Chars,
			start:     s.Start,
			end:       s.End,
			headEnd:   s.Start + rawjson.HeadEnd(raw, m.settings.HeadChars),
			tailStart: s.Start + rawjson.TailStart(raw, m.settings.TailChars),
		})
	}
	return cuts
}

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
		size += m.marker.size() + len(cuts[i].ID) - (cuts[i].tailStart - cuts[i].headEnd)
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
