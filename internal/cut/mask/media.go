package mask

import (
	"bytes"
	"slices"

	"secateur/internal/rawjson"
)

// withoutMedia returns the strings that are not the content of an image, a sound or
// a resource: neither named blob, nor named data in an object whose type is image
// or audio or that has a mimeType.
func withoutMedia(doc []byte, long []rawjson.String) []rawjson.String {
	var data []int // offsets of the strings named data
	long = slices.Clone(long)
	long = slices.DeleteFunc(long, func(s rawjson.String) bool {
		name := nameOf(doc, s.Start)
		if is(name, "data") {
			data = append(data, s.Start)
		}
		return is(name, "blob")
	})
	if len(data) == 0 {
		return long
	}
	media := mediaData(doc, data)
	return slices.DeleteFunc(long, func(s rawjson.String) bool { return media[s.Start] })
}

// nameOf returns the raw name of the member whose value starts at an offset of a
// well-formed document; nil where the value is no member.
func nameOf(doc []byte, value int) []byte {
	before := bytes.TrimRight(doc[:value], " \t\r\n")
	if len(before) == 0 || before[len(before)-1] != ':' {
		return nil
	}
	before = bytes.TrimRight(before[:len(before)-1], " \t\r\n")
	// The quote that opens a name follows a brace, a comma or white space; any
	// other quote in it follows a backslash.
	start := len(before) - 1
	for start--; before[start] != '"' || before[start-1] == '\\'; start-- {
	}
	return before[start:]
}

// mediaData tells which of the strings named data, given by their offsets in the
// order of the document, are in an object that describes media. It goes through the
// document, which is well-formed, once, however such objects stand within each
// other.
func mediaData(doc []byte, data []int) map[int]bool {
	type container struct {
		media bool
		data  []int
	}
	var (
		found = make(map[int]bool)
		open  []container
		name  []byte // the last one; of a string in an object it is its own
	)
	for p := 0; p < len(doc); p++ {
		switch doc[p] {
		case '{', '[':
			open = append(open, container{})
		case '}', ']':
			last := len(open) - 1
			for _, start := range open[last].data {
				found[start] = open[last].media
			}
			open = open[:last]
		case '"':
			start := p
			end := rawjson.StringEnd(doc, start)
			p = end - 1
			if len(open) == 0 {
				continue
			}
			top, text := &open[len(open)-1], doc[start:end]
			switch {
			case isName(doc[end:]):
				name = text
				top.media = top.media || is(name, "mimeType")
			case len(data) > 0 && start == data[0]:
				top.data = append(top.data, start)
				data = data[1:]
			case is(name, "type"):
				top.media = top.media || is(text, "image") || is(text, "audio")
			}
		}
	}
	return found
}

// isName tells whether the string before is a member's name.
func isName(follows []byte) bool {
	follows = bytes.TrimLeft(follows, " \t\r\n")
	return len(follows) > 0 && follows[0] == ':'
}

// is tells whether a raw string says text; what is no string, as only a broken document has it, says nothing.
func is(raw []byte, text string) bool {
	if len(raw) == len(text)+2 {
		return string(raw[1:len(raw)-1]) == text
	}
	return bytes.IndexByte(raw, '\\') >= 0 && rawjson.IsString(raw) && rawjson.Unquote(raw) == text
}
