package mask

import (
	"slices"

	"secateur/internal/rawjson"
)

// TextCuts returns the cuts to make in the result of a tool, a well-formed document, in document
// order. It cuts texts longer than room: the text of content blocks of type text, and the text of
// resources in blocks of type resource. All else stays whole: other blocks, structuredContent,
// media, URIs, names.
func (m *Masker) TextCuts(result []byte, room int) []Cut {
	long := texts(result, room)
	if len(long) == 0 {
		return nil
	}
	return m.cuts(result, long, room)
}

// texts returns the texts of a result that have more than most characters.
func texts(result []byte, most int) []rawjson.String {
	if len(result) <= most {
		return nil
	}
	t := textFinder{Cursor: rawjson.NewCursor(result), most: most}
	t.result()
	return t.long
}

// leastRoom is the room that every text has, however many there are.
const leastRoom = 300

// RoomFor returns the length to which the texts of a result have to be cut. They may have most
// characters together; if they have more, they are to have room(total) characters at most. The
// longest are cut first. RoomFor returns 0 if nothing has to be cut.
func RoomFor(result []byte, most int, room func(total int) int) int {
	if len(result) <= most {
		return 0
	}
	var sizes []int
	total := 0
	for _, t := range texts(result, 0) {
		sizes = append(sizes, t.Chars)
		total += t.Chars
	}
	if total <= most {
		return 0
	}
	slices.Sort(sizes)
	left := room(total)
	for i, size := range sizes {
		share := left / (len(sizes) - i)
		if size > share {
			return max(share, min(leastRoom, most))
		}
		left -= size
	}
	return 0
}

// A textFinder walks over a result once and records texts that are too long. It follows only the
// protocol's nesting.
type textFinder struct {
	rawjson.Cursor
	most int // maximum length of a text, in characters

	long  []rawjson.String
	inner []rawjson.String // texts of the current block's resource
}

func (t *textFinder) result() {
	if t.Peek() != '{' {
		return
	}
	for t.Enter(); !t.Done(); {
		isContent := is(t.Raw(), "content")
		if !isContent || t.Peek() != '[' {
			t.Value()
			continue
		}
		for t.Enter(); !t.Done(); {
			if t.Peek() == '{' {
				t.block()
			} else {
				t.Value()
			}
		}
	}
}

// block reads a content block. Its type may follow its text.
func (t *textFinder) block() {
	var kind []byte
	first := len(t.long)
	t.inner = t.inner[:0]
	for t.Enter(); !t.Done(); {
		switch name := t.Raw(); {
		case is(name, "type"):
			kind = t.Raw()
		case is(name, "text"):
			t.long = t.note(t.long)
		case is(name, "resource") && t.Peek() == '{':
			for t.Enter(); !t.Done(); {
				if is(t.Raw(), "text") {
					t.inner = t.note(t.inner)
				} else {
					t.Value()
				}
			}
		default:
			t.Value()
		}
	}
	switch {
	case rawjson.IsString(kind) && is(kind, "text"):
	case rawjson.IsString(kind) && is(kind, "resource"):
		t.long = append(t.long[:first], t.inner...)
	default:
		t.long = t.long[:first]
	}
}

// note skips a value, and records it if it is a text that is too long.
func (t *textFinder) note(long []rawjson.String) []rawjson.String {
	at := t.Value()
	raw := at.Of(t.Doc())
	if !rawjson.IsString(raw) || len(raw)-2 <= t.most {
		return long
	}
	if chars := rawjson.CountChars(raw); chars > t.most {
		return append(long, rawjson.String{Start: at.Start, End: at.End, Chars: chars})
	}
	return long
}
