package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"secateur/internal/mcp/wire"
)

// readAll reads until the stream ends. It returns the messages, a "too long" entry with id and kind
// for each message over the limit, and the final error.
func readAll(r *wire.Reader) (seen []string, end error) {
	for {
		msg, err := r.Next()
		if long, ok := errors.AsType[*wire.TooLongError](err); ok {
			kind := "response"
			if long.IsCall {
				kind = "call"
			}
			seen = append(seen, fmt.Sprintf("too long: %s %s", kind, long.ID))
			continue
		}
		if err != nil {
			return seen, err
		}
		seen = append(seen, string(msg))
	}
}

func TestReader(t *testing.T) {
	big := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		rule    string
		framing wire.Framing
		in      string
		want    []string
		end     error
	}{
		{"lines", wire.Lines, "{}\n[1]\n", []string{"{}", "[1]"}, io.EOF},
		{"blank lines and line ends of all kinds", wire.Lines, "\n\r\n {} \r\n\t\n\n1\n", []string{"{}", "1"}, io.EOF},
		{"nothing", wire.Lines, "", nil, io.EOF},
		{"a last line without its end", wire.Lines, "1\n2", []string{"1", "2"}, io.EOF},
		{"a line of the largest size", wire.Lines, strings.Repeat("x", 100) + "\r\n1\n", []string{strings.Repeat("x", 100), "1"}, io.EOF},
		{"a line over the largest size", wire.Lines, strings.Repeat("x", 101) + "\n1\n", []string{"too long: response null", "1"}, io.EOF},
		{"the id first", wire.Lines, `{"id":5,"result":"` + big + `"}` + "\n1\n", []string{"too long: response 5", "1"}, io.EOF},
		{"the id last", wire.Lines, `{"result":{"id":1,"x":"` + big + `","y":[{"id":2}]} , "i\u0064" : "a\"b" }` + "\n1\n", []string{`too long: response "a\"b"`, "1"}, io.EOF},
		{"the id in the midst", wire.Lines, `{"result":"` + big + `\\","id":-1.5e3,"x":"` + big + `"}` + "\n", []string{`too long: response -1.5e3`}, io.EOF},
		{"a call", wire.Lines, `{"id":5,"params":"` + big + `","method":"m"}` + "\n", []string{"too long: call 5"}, io.EOF},
		{"two ids", wire.Lines, `{"id":5,"result":"` + big + `","id":5}` + "\n", []string{"too long: response null"}, io.EOF},
		{"an id that is null", wire.Lines, `{"id":null,"result":"` + big + `"}` + "\n", []string{"too long: response null"}, io.EOF},
		{"an id too long", wire.Lines, `{"id":"` + big + `","result":1}` + "\n", []string{"too long: response null"}, io.EOF},
		{"an id that only looks like one", wire.Lines, `{"a":{"x":1,"id":1},"b":["id",2,{"y":"","id":3}],"c":"\"id\":3","ID":4,"x":"` + big + `"}` + "\n", []string{"too long: response null"}, io.EOF},
		{"an id beside others further in", wire.Lines, `{"a":{"x":1,"id":1},"id":9,"b":[0,{"y":"","id":3}],"x":"` + big + `"}` + "\n", []string{"too long: response 9"}, io.EOF},
		{"an array", wire.Lines, `[{"id":5,"result":"` + big + `"}]` + "\n", []string{"too long: response null"}, io.EOF},
		{"too long, and cut short", wire.Lines, `{"id":5,"result":"` + big, []string{"too long: response 5"}, io.EOF},
		{"white space without an end", wire.Lines, strings.Repeat(" ", 300<<10) + "\n1\n", []string{"too long: response null", "1"}, io.EOF},
		{"counted", wire.ContentLength, "Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", []string{"{}", "[1]"}, io.EOF},
		{"counted, in any case, with other headers", wire.ContentLength, "Content-Type: x/y\r\ncontent-LENGTH :  4 \r\nX: y\r\n\r\n{\n }\r\nContent-Length: 1\n\n1", []string{"{\n }", "1"}, io.EOF},
		{"counted, behind noise", wire.ContentLength, "Starting server\n\nReady: yes\n\n" + big + "\nContent-Length: 1\r\n\r\n1", []string{"1"}, io.EOF},
		{"counted, of no length", wire.ContentLength, "Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", []string{"1"}, io.EOF},
		{"counted, cut short", wire.ContentLength, "Content-Length: 3\r\n\r\n{}", nil, io.ErrUnexpectedEOF},
		{"counted, cut short in the header", wire.ContentLength, "Content-Length: 3\r\n", nil, io.ErrUnexpectedEOF},
		{"counted, cut short before the message", wire.ContentLength, "Content-Length: 3\r\n\r\n", nil, io.ErrUnexpectedEOF},
		{"counted, too long", wire.ContentLength, fmt.Sprintf("Content-Length: %d\r\n\r\n", len(big)+20) + `{"result":"` + big + `","id":7}` + "Content-Length: 1\r\n\r\n1", []string{"too long: response 7", "1"}, io.EOF},
		{"counted, too long, and cut short", wire.ContentLength, "Content-Length: 999999999999\r\n\r\n" + `{"id":7,` + big, []string{"too long: response 7"}, io.EOF},
		{"counted, negative", wire.ContentLength, "Content-Length: -1\r\n\r\n{}", nil, errAny},
		{"counted, no number", wire.ContentLength, "Content-Length: x\r\n\r\n{}", nil, errAny},
		{"counted, past all numbers", wire.ContentLength, "Content-Length: 99999999999999999999\r\n\r\n{}", nil, errAny},
		{"counted twice", wire.ContentLength, "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", nil, errAny},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				seen, end := readAll(wire.NewReader(in, c.framing, 100))
				if !slices.Equal(seen, c.want) {
					t.Errorf("read %.200q, want %q", seen, c.want)
				}
				if !errors.Is(end, c.end) && (!errors.Is(c.end, errAny) || errors.Is(end, io.EOF) || errors.Is(end, io.ErrUnexpectedEOF)) {
					t.Errorf("ended with %v, want %v", end, c.end)
				}
			}
		})
	}
}

// A changed limit applies to the next message, even if Next was already waiting for it.
func TestReadersLimitChanges(t *testing.T) {
	in, out := io.Pipe()
	var limit atomic.Int64
	limit.Store(100)
	r := wire.NewReader(in, wire.Lines, 1)
	r.Limit = func() int { return int(limit.Load()) }
	line := strings.Repeat("x", 50) + "\n"
	first := make(chan struct{})
	go func() {
		_, _ = io.WriteString(out, line)
		<-first
		limit.Store(10)
		_, _ = io.WriteString(out, line)
		out.Close()
	}()
	if msg, err := r.Next(); err != nil || len(msg) == 0 {
		t.Errorf("Next() = %q, %v", msg, err)
	}
	close(first)
	if _, err := r.Next(); !errors.As(err, new(*wire.TooLongError)) {
		t.Errorf("Next() = %v, want that it is too long", err)
	}
}

// If the limit exceeds the buffer size, a line arrives in several pieces before it is too long.
func TestALongLineIsSkimmedFromItsStart(t *testing.T) {
	line := `{"id":5,"result":"` + strings.Repeat("x", 300<<10) + `"}`
	r := wire.NewReader(strings.NewReader(line+"\n"+line[:150<<10]+"\n"), wire.Lines, 200<<10)
	_, err := r.Next()
	long, ok := errors.AsType[*wire.TooLongError](err)
	if !ok || long.ID != wire.NumberID(5) || long.Size != int64(len(line))+1 || long.Limit != 200<<10 {
		t.Errorf("Next() = %v", err)
	}
	if msg, err := r.Next(); err != nil || len(msg) != 150<<10 {
		t.Errorf("Next() = %d bytes, %v", len(msg), err)
	}
}

// A message that Room rejects is skipped, and its id is reported.
func TestMessagesThatThereIsNoRoomForAreSkipped(t *testing.T) {
	long, small := `{"id":5,"result":"`+strings.Repeat("x", 300<<10)+`"}`, `{"id":6,"result":1}`
	for _, framing := range []wire.Framing{wire.Lines, wire.ContentLength} {
		in := framing.AppendFrame(framing.AppendFrame(nil, []byte(long)), []byte(small))
		r := wire.NewReader(bytes.NewReader(in), framing, 1<<20)
		most, held := 0, 0
		r.Room = func(bytes int) bool {
			most, held = max(most, bytes), bytes
			return bytes <= 200<<10
		}
		_, err := r.Next()
		skipped, ok := errors.AsType[*wire.TooLongError](err)
		if !ok || skipped.ID != wire.NumberID(5) || !skipped.NoRoom || most < 200<<10 || held != 0 {
			t.Errorf("%s: Next() = %v with %d bytes held, want it to be skipped for want of room", framing, err, held)
		}
		if msg, err := r.Next(); err != nil || string(msg) != small || held != 0 {
			t.Errorf("%s: Next() = %s, %v with %d bytes held", framing, msg, err, held)
		}
	}
}

var errAny = errors.New("any error but the end")

func TestReaderReportsErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, framing := range []wire.Framing{wire.Lines, wire.ContentLength} {
		for _, in := range []string{"", "Content-Length: 10\r\n\r\n{", "{"} {
			seen, end := readAll(wire.NewReader(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), framing, 100))
			if len(seen) > 0 && framing == wire.ContentLength || !errors.Is(end, broken) {
				t.Errorf("%s of %q: read %q, ended with %v", framing, in, seen, end)
			}
		}
	}
}

func TestMessagesAreTheCallersToKeep(t *testing.T) {
	r := wire.NewReader(strings.NewReader("\"first\"\n\"second\"\n"), wire.Lines, 100)
	first, _ := r.Next()
	if _, err := r.Next(); err != nil || string(first) != `"first"` {
		t.Errorf("the first message became %s: %v", first, err)
	}
}

func TestAppendFrame(t *testing.T) {
	for _, c := range []struct {
		rule    string
		framing wire.Framing
		msg     string
		want    string
	}{
		{"a line", wire.Lines, `{"a":"b\n"}`, `{"a":"b\n"}` + "\n"},
		{"line breaks between tokens", wire.Lines, "{\r\n\"a\":\n1}", "{  \"a\": 1}\n"},
		{"counted", wire.ContentLength, "{\n}", "Content-Length: 3\r\n\r\n{\n}"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := string(c.framing.AppendFrame([]byte("> "), []byte(c.msg))); got != "> "+c.want {
				t.Errorf("AppendFrame = %q, want %q", got, "> "+c.want)
			}
		})
	}
}

// chunks returns its data in pieces of random sizes.
type chunks struct {
	data []byte
	rnd  *rand.Rand
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.rnd.IntN(50))], c.data)
	c.data = c.data[n:]
	return n, nil
}

// FuzzReader checks that the result does not depend on how the stream is split into pieces.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{}\n{\"id\":1,\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n1"), uint64(1), false)
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: 50\r\n\r\n{\"id\":1}"), uint64(1), true)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, counted bool) {
		framing := wire.Lines
		if counted {
			framing = wire.ContentLength
		}
		whole, wholeEnd := readAll(wire.NewReader(bytes.NewReader(data), framing, 20))
		pieces, piecesEnd := readAll(wire.NewReader(&chunks{data, rand.New(rand.NewPCG(seed, 0))}, framing, 20))
		if !slices.Equal(whole, pieces) || wholeEnd.Error() != piecesEnd.Error() {
			t.Errorf("%q at once: %q, %v; in pieces: %q, %v", data, whole, wholeEnd, pieces, piecesEnd)
		}
	})
}

// FuzzFrames checks that framed messages are read back. Of messages over the limit only the ids
// come back.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":"x"}`), uint64(1), 10)
	f.Add([]byte(`{"jsonrpc":"2.0","result":{"id":2,"a":["\\\"",{}]},"\u0069d":"\u0061"}`), uint64(2), 100)
	f.Add([]byte(`{"jsonrpc":"2.0","method":"m","id":1}`), uint64(3), 0)
	f.Fuzz(func(t *testing.T, doc []byte, seed uint64, limit int) {
		m, err := wire.ParseServer(doc, 0)
		if err != nil || limit < 0 {
			return
		}
		for _, framing := range []wire.Framing{wire.Lines, wire.ContentLength} {
			var stream []byte
			for range 3 {
				stream = framing.AppendFrame(stream, m.Raw)
			}
			want := string(m.Raw)
			if framing == wire.Lines {
				want = strings.NewReplacer("\n", " ", "\r", " ").Replace(want)
			}
			if len(m.Raw) > limit {
				kind := "response"
				if m.Kind() != wire.Response {
					kind = "call"
				}
				want = fmt.Sprintf("too long: %s %s", kind, m.ID)
			}
			seen, end := readAll(wire.NewReader(&chunks{stream, rand.New(rand.NewPCG(seed, 0))}, framing, limit))
			if !slices.Equal(seen, []string{want, want, want}) || !errors.Is(end, io.EOF) {
				t.Errorf("%s of %q: %q, %v", framing, m.Raw, seen, end)
			}
		}
	})
}
