package chat

import "secateur/internal/rawjson"

// mark asks a provider to cache the prompt up to here.
type mark uint8

// For how long to cache it.
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

// marks are those outside of the messages.
type marks struct {
	head mark // on the tools or the instructions
	tail mark // on the request: at its end
}

// withoutMarks hashes a list of objects, or anything else, without the marks on the objects. It
// returns the last mark.
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
		d.write(nil) // the end of an object
	}
	return last
}

func newListCursor(raw []byte) rawjson.Cursor {
	c := rawjson.NewCursor(raw)
	c.Enter()
	return c
}
