package upstream

import (
	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/wire"
)

// Reply is a server's answer. Its id is the caller's.
type Reply struct {
	wire.Message
	HTTPStatus int // of a server reached over HTTP; 0 for others

	buffer []byte // where Message's bytes live, if they are to go back to their pool
}

// Release gives the reply's memory back. Nothing of the reply may be used after it. Not calling it is no leak.
func (r *Reply) Release() {
	if r.buffer != nil {
		buffer.Put(r.buffer)
		r.buffer, r.Message = nil, wire.Message{}
	}
}
