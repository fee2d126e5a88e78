package buffer_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"secateur/internal/buffer"
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
		{"over the limit, as told", strings.NewReader("abcd"), 4, 3, "", buffer.ErrTooLong},
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
	got, err := buffer.ReadBehind(5, strings.NewReader("abc"), -1, 3)
	if err != nil || string(got[5:]) != "abc" {
		t.Errorf("ReadBehind = %q, %v", got, err)
	}
}

func TestGetHasRoom(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 4097, 1 << 22, 1<<22 + 1} {
		b := buffer.Get(n)
		if len(b) != 0 || cap(b) < n {
			t.Errorf("Get(%d) has length %d and room for %d", n, len(b), cap(b))
		}
		buffer.Put(b)
	}
}

// A length that somebody declares takes no memory: that grows with what really comes.
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
