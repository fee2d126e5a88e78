package upstream

import (
	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/wire"
)

// Reply is a server's answer. Its id is the caller's.
type Reply struct {
	wire.Message
	HTTPStatus int // if the server is reached over HTTP; else 0

	buffer []byte // pooled memory of Message's bytes; nil: not pooled
}

// Release returns the reply's memory to the pool. The reply must not be used afterwards. Omitting
// the call leaks nothing.
func (r *Reply) Release() {
	if r.buffer != nil {
		buffer.Put(r.buffer)
		r.buffer, r.Message = nil, wire.Message{}
	}
}
