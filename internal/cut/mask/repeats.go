package mask

import (
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// WithRepeats adds cuts in the structuredContent of a tool's result where it repeats a text that is
// cut. These are strings that equal or contain such a text, or that the text contains as JSON. A
// string stays a string. Strings whose form the tool's outputSchema prescribes stay whole, so that
// a valid result stays valid. nil: no schema.
func (m *Masker) WithRepeats(result []byte, cuts []Cut, outputSchema []byte) []Cut {
	if len(cuts) == 0 {
		return cuts
	}
	var repeats []Cut
	for name, at := range rawjson.Members(result) {
		if string(name) == "structuredContent" {
			repeats = append(repeats, m.repeats(result, at, cuts, outputSchema)...)
		}
	}
	if len(repeats) == 0 {
		return cuts
	}
	all := slices.Concat(cuts, repeats)
	SortCuts(all)
	return all
}

// repeats returns the cuts in the structuredContent at a span of a result.
func (m *Masker) repeats(result []byte, at rawjson.Span, cuts []Cut, outputSchema []byte) []Cut {
	content := at.Of(result)
	room := cuts[0].Room
	long, err := rawjson.LongStrings(content, maxDepth, room)
	if err != nil || len(long) == 0 {
		return nil
	}
	texts := newCutTexts(result, cuts)
	long = slices.DeleteFunc(long, func(s rawjson.String) bool { return !texts.repeatedBy(content[s.Start:s.End]) })
	return m.freeCuts(result, at, long, room, outputSchema)
}

// StructuredCuts returns the cuts of strings longer than room in the value at a span of a result.
// Strings whose form the schema prescribes stay whole; nil: no schema.
func (m *Masker) StructuredCuts(result []byte, at rawjson.Span, room int, outputSchema []byte) []Cut {
	content := at.Of(result)
	long, err := rawjson.LongStrings(content, maxDepth, room)
	if err != nil {
		return nil
	}
	return m.freeCuts(result, at, long, room, outputSchema)
}

// freeCuts returns the cuts of strings in the value at a span whose form the schema leaves open.
func (m *Masker) freeCuts(result []byte, at rawjson.Span, long []rawjson.String, room int, outputSchema []byte) []Cut {
	if len(outputSchema) > 0 {
		long = FreeStrings(at.Of(result), long, outputSchema)
	}
	for i := range long {
		long[i].Start += at.Start
		long[i].End += at.Start
	}
	return m.cuts(result, long, room)
}

// cutTexts are the texts that are cut, for comparison with other strings.
type cutTexts struct {
	texts  []string
	equal  map[string]bool
	budget int // bytes left to search
}

// maxCompared limits the bytes searched for texts within texts, since there may be many of both.
// Beyond it, strings stay whole.
const maxCompared = 16 << 20

func newCutTexts(doc []byte, cuts []Cut) *cutTexts {
	t := &cutTexts{equal: make(map[string]bool, len(cuts)), budget: maxCompared}
	for i := range cuts {
		text := cuts[i].Text(doc)
		if !t.equal[text] {
			t.equal[text] = true
			t.texts = append(t.texts, text)
		}
	}
	return t
}

// repeatedBy reports whether a raw string repeats a text.
func (t *cutTexts) repeatedBy(raw []byte) bool {
	s := rawjson.Unquote(raw)
	if t.equal[s] {
		return true
	}
	written := string(raw[1 : len(raw)-1]) // its form inside JSON, if escaped alike
	for _, text := range t.texts {
		whole, part := s, text
		if len(whole) < len(part) {
			whole, part = text, written
		}
		if len(part) > len(whole) || t.budget < len(whole) {
			continue
		}
		t.budget -= len(whole)
		if strings.Contains(whole, part) {
			return true
		}
	}
	return false
}
