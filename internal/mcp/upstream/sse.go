package upstream

// Server-Sent Events as the HTML standard defines them ("Interpreting an event stream").

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"secateur/internal/mcp/wire"
)

// event is one Server-Sent Event. Its data is the reader's until the next call.
type event struct {
	name  string // "" means message
	data  []byte
	id    string // the last event id the stream has given so far
	retry time.Duration
	long  *wire.TooLongError // its data was over the limit and was not kept; nil: it was not
}

// eventReader reads Server-Sent Events one by one. Lines may end with CR, LF or CRLF.
type eventReader struct {
	r       io.Reader
	limit   func() int // bytes of data of one event
	buf     []byte
	start   int  // of what is not read yet in buf
	skipLF  bool // the last line ended with CR; an LF that follows belongs to it
	begun   bool // past a byte order mark
	line    []byte
	cut     bool // line was over the limit
	data    []byte
	over    *overlong            // takes the data of an event that is over the limit
	room    func(bytes int) bool // see wire.Reader.Room; nil: there always is
	full    bool                 // there was no room for this event
	lastID  string
	pending error // the stream's end, told when buf is used up
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: r, limit: func() int { return limit }, buf: make([]byte, 0, 8<<10)}
}

// newEvents reads the events of a server's stream.
func (u *Upstream) newEvents(r io.Reader) *eventReader {
	e := newEventReader(r, 0)
	e.limit = u.maxMessage
	e.room = u.newRoom().take
	return e
}

// hasRoom asks for room for so many bytes of an event. Where there was none once, the event is skipped.
func (e *eventReader) hasRoom(bytes int) bool {
	if e.room != nil && !e.full && !e.room(bytes) {
		e.full = true
	}
	return !e.full
}

// begin makes ready for the next event. What a large one took is given back.
func (e *eventReader) begin() {
	if cap(e.data) > keptCapacity {
		e.data = nil
	}
	if cap(e.line) > keptCapacity {
		e.line = nil
	}
	e.data, e.full = e.data[:0], false
}

// keptCapacity is how large a buffer is kept for the next event.
const keptCapacity = 1 << 20

// next reads up to the end of an event that carries data, an id or a delay. An event that the stream's end cut short
// is not one.
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
				ev.name = "" // an event without data is none; its name is forgotten
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
			case e.cut: // it is passed on already
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

// lineOverhead is what a line may have beside its data.
const lineOverhead = 64

// readLine reads the next line into e.line without its end. Of a line over the limit only the start is kept.
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

// pass has a line of data looked through that is, with what came before it, over the limit.
func (e *eventReader) pass(line []byte) {
	if e.over == nil {
		e.over = newOverlong(e.limit())
		e.over.write(bytes.ReplaceAll(e.data, []byte{'\n'}, []byte{' '}))
		e.data = e.data[:0]
	}
	e.over.write([]byte{' '})
	e.over.write(line)
}

// stripMark drops a byte order mark at the stream's start.
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
