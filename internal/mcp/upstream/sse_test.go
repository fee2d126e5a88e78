package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readEvents returns each event as name|data|id|retry, and the final error.
func readEvents(r io.Reader, limit int) (events []string, err error) {
	e := newEventReader(r, limit)
	for {
		ev, err := e.next()
		if err != nil {
			return events, err
		}
		data := string(ev.data)
		if ev.long != nil {
			data = "(too long)"
		}
		events = append(events, fmt.Sprintf("%s|%s|%s|%d", ev.name, data, ev.id, ev.retry.Milliseconds()))
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		rule, in string
		want     []string
	}{
		{"one line", "data: a\n\n", []string{"|a||0"}},
		{"one space is dropped, not two", "data:  a\n\ndata:b\n\n", []string{"| a||0", "|b||0"}},
		{"several lines are one text", "data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb||0"}},
		{"lines may end with CR", "data: a\rdata: b\r\rdata: c\r\r", []string{"|a\nb||0", "|c||0"}},
		{"or with CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []string{"|a\nb||0", "|c||0"}},
		{"or with all of them", "data: a\r\n\ndata: b\r\r\ndata: c\n\n", []string{"|a||0", "|b||0", "|c||0"}},
		{"comments say nothing", ": hi\n\n:\ndata: a\n: x\n\n", []string{"|a||0"}},
		{"a name belongs to its event", "event: endpoint\ndata: a\n\ndata: b\n\n", []string{"endpoint|a||0", "|b||0"}},
		{"a name without data is forgotten", "event: x\n\ndata: b\n\n", []string{"|b||0"}},
		{"an id is kept for the events that follow", "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []string{"|a|1|0", "|b|1|0", "|c||0"}},
		{"an id with NUL is none", "id: \x00\ndata: a\n\n", []string{"|a||0"}},
		{"an event may have an id alone", "id: 1\n\n", []string{"||1|0"}},
		{"and an empty text", "id: 1\ndata\n\n", []string{"||1|0"}},
		{"a delay", "retry: 250\n\nretry: x\n\nretry: -1\n\n", []string{"|||250"}},
		{"fields that nobody knows say nothing", "foo: bar\nbaz\ndata: a\n\n", []string{"|a||0"}},
		{"an event that is cut short is none", "data: a\n\ndata: b\n", []string{"|a||0"}},
		{"a byte order mark at the start is none of it", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"|a||0"}},
		{"too much in one line is passed over", "data: " + strings.Repeat("x", 300) + "\n\ndata: b\n\n", []string{"|(too long)||0", "|b||0"}},
		{"too much in many lines too", strings.Repeat("data: xxxxxxxxxx\n", 20) + "\ndata: b\n\n", []string{"|(too long)||0", "|b||0"}},
		{"a comment may be of any length", ":" + strings.Repeat("x", 1000) + "\ndata: b\n\n", []string{"|b||0"}},
	} {
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
			"with the end": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			got, err := readEvents(r, 100)
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v", c.rule, name, err)
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
				t.Errorf("%s, %s: %q, want %q", c.rule, name, got, c.want)
			}
		}
	}
}

// Data over the limit is not kept, but its call is identified.
func TestEventsOverTheLimitAreLookedThrough(t *testing.T) {
	x := strings.Repeat("x", 300)
	for _, c := range []struct {
		rule, in, id string
		isCall       bool
	}{
		{"an id at the start", `data: {"jsonrpc":"2.0","id":7,"result":"` + x + `"}`, "7", false},
		{"an id at the end", `data: {"jsonrpc":"2.0","result":{"id":1,"text":"` + x + `"},"id":"a"}`, `"a"`, false},
		{"without a space", `data:{"jsonrpc":"2.0","result":"` + x + `","id":7}`, "7", false},
		{"in many lines", "data: {\"jsonrpc\":\"2.0\",\n" + strings.Repeat("data: \"x\":[1,\ndata: 2],\n", 20) + "data: \"id\"\ndata: :\ndata: 7}", "7", false},
		{"a long line after short ones", "data: {\"jsonrpc\":\"2.0\",\ndata: \"result\":\"" + x + "\",\ndata: \"id\":7}", "7", false},
		{"long lines one after the other", "data: {\"a\":\"" + x + "\",\ndata: \"b\":\"" + x + "\",\ndata: \"id\":7}", "7", false},
		{"a name after the data", `data: {"jsonrpc":"2.0","id":7,"result":"` + x + "\"}\nevent: message\n: comment", "7", false},
		{"after a byte order mark", "\ufeff" + `data: {"jsonrpc":"2.0","id":7,"result":"` + x + `"}`, "7", false},
		{"a request", `data: {"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"` + x + `"}}`, "7", true},
		{"a notification", `data: {"jsonrpc":"2.0","method":"m","params":{"x":"` + x + `"}}`, "null", true},
		{"nothing", "data: " + strings.Repeat(" ", 300), "null", false},
		{"nonsense", "data: " + x, "null", false},
	} {
		for _, size := range []int{1, 7, 100, 10_000} {
			e := newEventReader(&pieceReader{[]byte(c.in + "\n\ndata: next\n\n"), size}, 100)
			ev, err := e.next()
			if err != nil || ev.long == nil || ev.long.ID.String() != c.id || ev.long.IsCall != c.isCall || ev.long.Limit != 100 || len(ev.data) > 0 {
				t.Errorf("%s: %q %+v, %v; want id %s", c.rule, ev.data, ev.long, err, c.id)
			}
			if ev, err = e.next(); err != nil || string(ev.data) != "next" || ev.long != nil {
				t.Errorf("%s: then %+v, %v", c.rule, ev, err)
			}
			held := 0
			e = newEventReader(&pieceReader{[]byte(c.in + "\n\ndata: next\n\n"), size}, 1<<20)
			e.room = func(bytes int) bool {
				held = bytes
				return bytes < 100
			}
			ev, err = e.next()
			if err != nil || ev.long == nil || ev.long.ID.String() != c.id || ev.long.IsCall != c.isCall || !ev.long.NoRoom || len(ev.data) > 0 {
				t.Errorf("%s, without room: %q %+v, %v; want id %s", c.rule, ev.data, ev.long, err, c.id)
			}
			if ev, err = e.next(); err != nil || string(ev.data) != "next" || ev.long != nil || held != 0 {
				t.Errorf("%s, without room: then %+v, %v, and %d bytes held", c.rule, ev, err, held)
			}
		}
		cut := newEventReader(strings.NewReader(c.in), 100)
		if ev, err := cut.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s, cut short: %+v, %v", c.rule, ev, err)
		}
	}
}

// An event is delivered as soon as its last byte arrives. A reader that waits for one more byte
// would block forever.
func TestEventsAreNotWaitedFor(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		r, w := io.Pipe()
		go io.WriteString(w, "data: a"+end)
		ev, err := newEventReader(r, 100).next()
		if err != nil || string(ev.data) != "a" {
			t.Errorf("%q: %q, %v", end, ev.data, err)
		}
		r.Close()
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\r\ndata: a\rdata: b\n\nevent: x\n: c\nretry: 5\n\n"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		whole, _ := readEvents(bytes.NewReader(in), 64)
		pieces, _ := readEvents(&pieceReader{in, int(size)%7 + 1}, 64)
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", pieces) {
			t.Errorf("in pieces of %d: %q, as a whole: %q", size%7+1, pieces, whole)
		}
		for _, ev := range whole {
			if len(ev) > 64+len(in)+32 {
				t.Errorf("an event of %d bytes", len(ev))
			}
		}
	})
}

type pieceReader struct {
	b []byte
	n int
}

func (p *pieceReader) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.b[:min(p.n, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}
