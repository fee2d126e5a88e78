package upstream

// Server-Sent Events as the HTML standard defines them ("Interpreting an event stream").

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"secateur/internal/mcp/wire"
)

// event is one Server-Sent Event. The reader owns its data, which is valid until the next call.
type event struct {
	name  string // "" means message
	data  []byte
	id    string // the stream's last event id so far
	retry time.Duration
	long  *wire.TooLongError // set if the data was over the limit and not kept
}

// eventReader reads Server-Sent Events one by one. Lines may end with CR, LF or CRLF.
type eventReader struct {
	r       io.Reader
	limit   func() int // maximum bytes of data per event
	buf     []byte
	start   int  // offset of the unread part of buf
	skipLF  bool // the last line ended with CR; a following LF belongs to it
	begun   bool // past a possible byte order mark
	line    []byte
	cut     bool // line was over the limit
	data    []byte
	over    *overlong            // scans the data of an event over the limit
	room    func(bytes int) bool // see wire.Reader.Room; nil: no limit
	full    bool                 // room refused this event
	lastID  string
	pending error // the stream's end, reported when buf is used up
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: r, limit: func() int { return limit }, buf: make([]byte, 0, 8<<10)}
}

// newEvents returns a reader for a server's event stream.
func (u *Upstream) newEvents(r io.Reader) *eventReader {
	e := newEventReader(r, 0)
	e.limit = u.maxMessage
	e.room = u.newRoom().take
	return e
}

// hasRoom requests space for this many bytes of an event. Once refused, the whole event is skipped.
func (e *eventReader) hasRoom(bytes int) bool {
	if e.room != nil && !e.full && !e.room(bytes) {
		e.full = true
	}
	return !e.full
}

// begin prepares for the next event and releases large buffers.
func (e *eventReader) begin() {
	if cap(e.data) > keptCapacity {
		e.data = nil
	}
	if cap(e.line) > keptCapacity {
		e.line = nil
	}
	e.data, e.full = e.data[:0], false
}

// keptCapacity is the largest buffer kept for the next event.
const keptCapacity = 1 << 20

// next reads up to the end of an event with data, an id or a retry delay. An event cut short by the
// end of the stream does not count.
func (e *eventReader) next() (ev event, err error) {
	e.begin()
	defer func() {
		if e.room != nil {
			e.room(0)
		}
		if e.over != nil {
			ev.long, e.over = e.over.end(), nil
			ev.long.NoRoom = e.full
		}
	}()
	lines, seen := 0, false
	for {
		if err := e.readLine(); err != nil {
			return event{}, err
		}
		if len(e.line) == 0 && !e.cut {
			if !seen {
				ev.name = "" // an event without data does not count; forget its name
				continue
			}
			ev.data, ev.id = e.data, e.lastID
			return ev, nil
		}
		field, value, _ := bytes.Cut(e.line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "data":
			seen = true
			if lines > 0 && e.over == nil {
				e.data = append(e.data, '\n')
			}
			lines++
			switch {
			case e.cut: // already passed on
			case e.over != nil || len(e.data)+len(value) > e.limit() || !e.hasRoom(len(e.data)+len(value)+len(e.line)):
				e.pass(value)
			default:
				e.data = append(e.data, value...)
			}
		case "event":
			ev.name = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) && !e.cut {
				seen, e.lastID = true, string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				seen, ev.retry = true, time.Duration(ms)*time.Millisecond
			}
		}
	}
}

// lineOverhead is how much longer than its data a line may be.
const lineOverhead = 64

// readLine reads the next line into e.line without its line ending. It keeps only the start of a
// line over the limit.
func (e *eventReader) readLine() error {
	e.line, e.cut = e.line[:0], false
	for {
		rest := e.buf[e.start:]
		if e.skipLF && len(rest) > 0 {
			if rest[0] == '\n' {
				e.start++
				rest = rest[1:]
			}
			e.skipLF = false
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		if cr := bytes.IndexByte(rest[:end], '\r'); cr >= 0 {
			end = cr
		}
		e.keep(rest[:end])
		if end < len(rest) {
			e.skipLF = rest[end] == '\r'
			e.start += end + 1
			e.stripMark()
			return nil
		}
		if err := e.fill(); err != nil {
			return err
		}
	}
}

func (e *eventReader) keep(part []byte) {
	room := max(e.limit()+lineOverhead-len(e.line), 0)
	if !e.hasRoom(len(e.data) + len(e.line) + len(part)) {
		room = max(lineOverhead-len(e.line), 0)
	}
	if len(part) <= room {
		e.line = append(e.line, part...)
		return
	}
	e.line = append(e.line, part[:room]...)
	e.stripMark()
	value, isData := bytes.CutPrefix(e.line, []byte("data:"))
	switch {
	case isData && !e.cut:
		e.pass(bytes.TrimPrefix(value, []byte{' '}))
		e.over.write(part[room:])
	case isData:
		e.over.write(part[room:])
	}
	e.cut = true
}

// pass scans a line of data that, with the data before it, is over the limit.
func (e *eventReader) pass(line []byte) {
	if e.over == nil {
		e.over = newOverlong(e.limit())
		e.over.write(bytes.ReplaceAll(e.data, []byte{'\n'}, []byte{' '}))
		e.data = e.data[:0]
	}
	e.over.write([]byte{' '})
	e.over.write(line)
}

// stripMark drops a byte order mark at the start of the stream.
func (e *eventReader) stripMark() {
	if !e.begun {
		e.line = bytes.TrimPrefix(e.line, []byte("\xef\xbb\xbf"))
		e.begun = true
	}
}

func (e *eventReader) fill() error {
	if e.pending != nil {
		return e.pending
	}
	e.start = 0
	n, err := e.r.Read(e.buf[:cap(e.buf)])
	e.buf = e.buf[:n]
	if err != nil {
		if n == 0 {
			return err
		}
		e.pending = err
	}
	return nil
}
