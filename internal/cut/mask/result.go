package mask

import "secateur/internal/rawjson"

// TextCuts returns the cuts to make in the result of a tool, a well-formed document, in document
// order. It cuts the text of content blocks of type text, and the text of resources in blocks of
// type resource. All else stays whole: other blocks, structuredContent, media, URIs, names.
func (m *Masker) TextCuts(result []byte) []Cut {
	if len(result) <= m.settings.MaxChars {
		return nil
	}
	t := textFinder{Cursor: rawjson.NewCursor(result), most: m.settings.MaxChars}
	t.result()
	if len(t.long) == 0 {
		return nil
	}
	return m.cuts(result, t.long)
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
