package chat

import "secateur/internal/rawjson"

// mark says that a provider is asked to keep what a prompt begins with, up to here.
type mark uint8

// How long it is to be kept.
const (
	unmarked    mark = iota
	markedShort      // for five minutes
	markedLong       // for an hour
)

// markOf reads a cache_control.
func markOf(raw []byte) mark {
	if len(raw) == 0 || raw[0] != '{' {
		return unmarked
	}
	if is(rawjson.Get(raw, "ttl"), "1h") {
		return markedLong
	}
	return markedShort
}

// marks are those that stand in no message.
type marks struct {
	head mark // on the tools or the instructions
	tail mark // on the request: at the end of it, wherever that is
}

// withoutMarks takes in a list of objects, or anything else, but for the marks on the objects. It returns the last of
// these.
func (d *digest) withoutMarks(raw []byte) (last mark) {
	if len(raw) == 0 || raw[0] != '[' {
		d.write(raw)
		return unmarked
	}
	for c := newListCursor(raw); !c.Done(); {
		if c.Peek() != '{' {
			d.write(c.Raw())
			continue
		}
		for c.Enter(); !c.Done(); {
			name, value := c.Raw(), c.Raw()
			if is(name, "cache_control") {
				last = markOf(value)
				continue
			}
			d.write(name)
			d.write(value)
		}
		d.write(nil) // where an object ends
	}
	return last
}

func newListCursor(raw []byte) rawjson.Cursor {
	c := rawjson.NewCursor(raw)
	c.Enter()
	return c
}
