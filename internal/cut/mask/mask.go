package mask

import (
	"regexp"
	"slices"

	"secateur/internal/rawjson"
)

// A Masker cuts by its settings. It may be used concurrently.
type Masker struct {
	settings      Settings
	marker        marker
	pattern       *regexp.Regexp // the marker in a decoded string
	longestMarker int            // in characters
}

// New returns a Masker, or what is wrong with the settings.
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
	Chars int    // of the original
	ID    string // of the original, for markers that name it; set by the caller

	start, end         int // of the string in the document, quotes included
	headEnd, tailStart int // what lies between them gives way to the marker
}

// Text returns the original, decoded. A lone surrogate is kept as rawjson keeps it.
func (c *Cut) Text(doc []byte) string { return rawjson.Unquote(doc[c.start:c.end]) }

// LongString returns the number of characters above which a string is of interest.
func (m *Masker) LongString() int { return m.settings.MaxChars }

// KeptChars returns how many characters are left of a string that is cut, beside the marker.
func (m *Masker) KeptChars() int { return m.settings.HeadChars + m.settings.TailChars }

// Cuts returns the cuts to be made in doc, in the order of the document. The
// strings of more than LongString characters are given, in that order too.
func (m *Masker) Cuts(doc []byte, long []rawjson.String) []Cut {
	if len(long) == 0 {
		return nil
	}
	if m.settings.ExemptMedia {
		long = withoutMedia(doc, long)
	}
	return m.cuts(doc, long)
}

// cuts makes a cut of each string that is too long and was not cut before.
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

// isMasked tells whether a string holds a marker of ours and is longer than it may
// be by no more than that.
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

// Append appends doc with the cuts made. They are those that Cuts returned, less
// any that the caller dropped.
func (m *Masker) Append(dst, doc []byte, cuts []Cut) []byte {
	size := len(doc)
	for i := range cuts {
		size += m.marker.size() + len(cuts[i].ID) - (cuts[i].tailStart - cuts[i].headEnd)
	}
	dst = slices.Grow(dst, size)
	done := 0
	for i := range cuts {
		dst = append(dst, doc[done:cuts[i].headEnd]...)
		dst = m.marker.append(dst, &cuts[i])
		done = cuts[i].tailStart
	}
	return append(dst, doc[done:]...)
}

// maxDepth bounds the documents that Mask takes.
const maxDepth = 10000

// Mask returns doc, any JSON value, with all cuts made, and the cuts. Without any
// it returns doc itself.
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
