package upstream

import (
	"errors"
	"io"

	"secateur/internal/mcp/wire"
)

// overlong scans a message over the limit, in pieces and without keeping it, to find the call it
// belongs to.
type overlong struct {
	in    *io.PipeWriter
	found chan *wire.TooLongError
}

func newOverlong(limit int) *overlong {
	r, w := io.Pipe()
	o := &overlong{in: w, found: make(chan *wire.TooLongError, 1)}
	go func() {
		_, err := wire.NewReader(r, wire.Lines, 0).Next() // every message is too long for it
		found, ok := errors.AsType[*wire.TooLongError](err)
		if !ok {
			found = &wire.TooLongError{} // only white space
		}
		found.Limit = limit
		_ = r.Close() // it has been read to the end
		o.found <- found
	}()
	return o
}

// write scans the next piece, which must not contain line breaks.
func (o *overlong) write(piece []byte) { _, _ = o.in.Write(piece) }

// end returns the result. It must be called.
func (o *overlong) end() *wire.TooLongError {
	_ = o.in.Close()
	return <-o.found
}
