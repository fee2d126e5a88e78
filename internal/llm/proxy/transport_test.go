package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// recorder is a connection that records the written pieces.
type recorder struct {
	net.Conn

	pieces []string
	during func()
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.during != nil {
		r.during()
	}
	r.pieces = append(r.pieces, string(p))
	return len(p), nil
}

func TestBodiesAreSentInOnePiece(t *testing.T) {
	text := strings.Repeat("a body that is longer than any buffer ", 10_000)
	body := grab(len(text))
	body.bytes = append(body.bytes, text...)
	from := body.reader()
	body.release()
	start := make([]byte, 100)
	_, _ = io.ReadFull(from, start) // the part that is sent with the headers
	conn := &recorder{during: func() {
		_ = from.Close() // as a transport does for a cancelled request
		if next := grab(len(text)); len(next.bytes) < cap(next.bytes) {
			clear(next.bytes[:cap(next.bytes)])
		}
	}}
	limited := &io.LimitedReader{R: from, N: int64(len(text) - 100)}
	n, err := wire{conn}.ReadFrom(limited)
	if n != int64(len(text)-100) || err != nil || limited.N != 0 {
		t.Errorf("ReadFrom = %d, %v, %d left", n, err, limited.N)
	}
	if len(conn.pieces) != 1 || conn.pieces[0] != text[100:] {
		t.Errorf("sent in %d pieces, or changed on the way", len(conn.pieces))
	}
	if _, err := (wire{conn}).ReadFrom(&io.LimitedReader{R: from, N: 1}); !errors.Is(err, errClosed) {
		t.Errorf("a closed body: %v", err)
	}
}

func TestABodyIsSentAsFarAsItIsWanted(t *testing.T) {
	body := grab(10)
	defer body.release()
	body.bytes = append(body.bytes, "0123456789"...)
	from := body.reader()
	defer from.Close()
	conn := &recorder{}
	for range 3 {
		if _, err := (wire{conn}).ReadFrom(io.LimitReader(from, 4)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(conn.pieces, "|"); got != "0123|4567|89" {
		t.Errorf("sent %s", got)
	}
}

func TestAnyOtherBodyIsSentToo(t *testing.T) {
	conn := &recorder{}
	if n, err := (wire{conn}).ReadFrom(bytes.NewReader([]byte("text"))); n != 4 || err != nil || strings.Join(conn.pieces, "") != "text" {
		t.Errorf("ReadFrom = %d, %v, sent %q", n, err, conn.pieces)
	}
}
