package buffer_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"secateur/internal/mcp/buffer"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, c := range []struct {
		rule  string
		in    io.Reader
		size  int64
		limit int
		want  string
		err   error
	}{
		{"a size that is known", strings.NewReader("abc"), 3, 3, "abc", nil},
		{"a size that is not", iotest.OneByteReader(strings.NewReader(long)), -1, len(long), long, nil},
		{"a size that is wrong", strings.NewReader(long), 2, len(long), long, nil},
		{"over the limit, as told, whatever comes", strings.NewReader("a"), 4, 3, "", buffer.ErrTooLong},
		{"over the limit, as it turns out", strings.NewReader("abcd"), -1, 3, "", buffer.ErrTooLong},
		{"broken off", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abcd"))), 4, 10, "", iotest.ErrTimeout},
	} {
		got, err := buffer.Read(c.in, c.size, c.limit)
		if !errors.Is(err, c.err) || err == nil && string(got) != c.want {
			t.Errorf("%s: read %d bytes, %v; want %d, %v", c.rule, len(got), err, len(c.want), c.err)
		}
		buffer.Put(got)
	}
}

func TestReadBehindLeavesRoom(t *testing.T) {
	got, err := new(buffer.Sizes).ReadBehind(5, strings.NewReader("abc"), -1, 3)
	if err != nil || string(got[5:]) != "abc" {
		t.Errorf("ReadBehind = %q, %v", got, err)
	}
}

// A declared length takes no memory: the buffer grows with the bytes received.
func TestReadBelievesNoDeclaredSize(t *testing.T) {
	got, err := buffer.Read(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)), 32<<20, 32<<20)
	if !errors.Is(err, io.ErrUnexpectedEOF) || cap(got) > 128<<10 {
		t.Errorf("3 bytes of a declared 32 MB took %d bytes, %v", cap(got), err)
	}
	whole := strings.Repeat("x", 3<<20)
	if got, err := buffer.Read(iotest.HalfReader(strings.NewReader(whole)), int64(len(whole)), len(whole)); err != nil || string(got) != whole {
		t.Errorf("3 MB: %d bytes, %v", len(got), err)
	}
}

// A body gets a buffer of the usual size once its first step is full, and not earlier. The usual
// size adapts gradually.
func TestSizesGivesTheRoomOfAUsualBody(t *testing.T) {
	var sizes buffer.Sizes
	read := func(length int, end error) (room int) {
		t.Helper()
		body := io.MultiReader(strings.NewReader(strings.Repeat("x", length)), iotest.ErrReader(end))
		got, err := sizes.ReadBehind(3, body, -1, 8<<20)
		if !errors.Is(err, end) && err != nil || len(got) != 3+length {
			t.Fatalf("a body of %d: read %d, %v", length, len(got), err)
		}
		return cap(got)
	}
	const step = 64 << 10
	seen := func(rule string, length, least, most int) {
		t.Helper()
		if room := read(length, io.ErrUnexpectedEOF); room < least || room > most {
			t.Errorf("%s: room for %d bytes, want %d to %d", rule, room, least, most)
		}
	}
	seen("nothing is known", step+1, step+1, 2*step)
	read(1<<20, io.EOF)
	seen("not begun", 0, 0, step)
	seen("a first step has not come", step-4, step-1, step)
	seen("a first step has come", step, 1<<20, 2<<20)
	read(3<<20, io.ErrUnexpectedEOF)
	seen("one that broke off tells nothing", step, 1<<20, 2<<20)
	read(7<<20, io.EOF)
	seen("more than any buffer of the pool", step, 1<<20, 4<<20)
	for range 50 {
		read(10, io.EOF)
	}
	seen("small ones came since", step, step+1, 2*step)
}
