package mask

import (
	"bytes"
	"slices"

	"secateur/internal/rawjson"
)

// withoutMedia drops strings that are the content of an image, a sound or a resource. These are
// named blob, or named data in an object with a mimeType or the type image or audio.
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

// nameOf returns the raw name of the member whose value starts at an offset. It returns nil if the
// value is not a member. The document must be well-formed.
func nameOf(doc []byte, value int) []byte {
	before := bytes.TrimRight(doc[:value], " \t\r\n")
	if len(before) == 0 || before[len(before)-1] != ':' {
		return nil
	}
	before = bytes.TrimRight(before[:len(before)-1], " \t\r\n")
	// The opening quote of a name follows a brace, a comma or white space. Any other quote in it
	// follows a backslash.
	start := len(before) - 1
	for start--; before[start] != '"' || before[start-1] == '\\'; start-- {
	}
	return before[start:]
}

// mediaData reports which of the strings named data are in an object that describes media. They are
// given by offset, in document order. It walks over the well-formed document once, whatever its
// nesting.
func mediaData(doc []byte, data []int) map[int]bool {
	type container struct {
		media bool
		data  []int
	}
	var (
		found = make(map[int]bool)
		open  []container
		name  []byte // the last name; for a string in an object, its own
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

// isName reports whether the preceding string is a member name.
func isName(follows []byte) bool {
	follows = bytes.TrimLeft(follows, " \t\r\n")
	return len(follows) > 0 && follows[0] == ':'
}

// is reports whether a raw string has this text. Anything but a string, as in an ill-formed
// document, has none.
func is(raw []byte, text string) bool {
	if len(raw) == len(text)+2 {
		return string(raw[1:len(raw)-1]) == text
	}
	return bytes.IndexByte(raw, '\\') >= 0 && rawjson.IsString(raw) && rawjson.Unquote(raw) == text
}
