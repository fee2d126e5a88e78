package upstream

import (
	"errors"
	"io"

	"secateur/internal/mcp/wire"
)

// overlong looks through a message over the limit that comes in pieces and is not kept, to find out which call it is
// for.
type overlong struct {
	in    *io.PipeWriter
	found chan *wire.TooLongError
}

func newOverlong(limit int) *overlong {
	r, w := io.Pipe()
	o := &overlong{in: w, found: make(chan *wire.TooLongError, 1)}
	go func() {
		_, err := wire.NewReader(r, wire.Lines, 0).Next() // everything is too long for it
		found, ok := errors.AsType[*wire.TooLongError](err)
		if !ok {
			found = &wire.TooLongError{} // white space
		}
		found.Limit = limit
		_ = r.Close() // it has read to the end
		o.found <- found
	}()
	return o
}

// write takes the next piece, which has no line breaks.
func (o *overlong) write(piece []byte) { _, _ = o.in.Write(piece) }

// end says what has been found. It must be called.
func (o *overlong) end() *wire.TooLongError {
	_ = o.in.Close()
	return <-o.found
}
