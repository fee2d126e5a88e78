package aggregate

import (
	"context"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// relay gives the client what a server sends in the middle of a call. As a value of one pointer it takes no memory of its own.
type relay struct {
	*proxiedCall
}

// Serve passes one message on. To a request it returns the client's answer.
func (r relay) Serve(ctx context.Context, m *wire.Message) []byte {
	m = r.a.permit.RedactNotice(m)
	if m.Kind() != wire.Request {
		r.notice(m)
		return nil
	}
	if r.c.era == era.Modern || !era.Declares(r.c.capabilities, m.Method, m.Params) {
		return notOffered(m)
	}
	if answer := r.c.knownRoots(m); answer != nil {
		return answer
	}
	answer := r.s.askClient(ctx, serverRequest{r.d.server, r.conn, r.d.named(m), r.d.renames, r.send, r.isHeard})
	if m.Method == methodRoots {
		if ctx.Err() == nil {
			r.c.keepRoots(answer)
		}
		return answer
	}
	return r.a.permit.RedactAnswer(answer)
}

// notOffered is what a server gets that asks for what its client does not have.
func notOffered(m *wire.Message) []byte {
	return wire.NewError(wire.CodeMethodNotFound, "this client does not offer "+clipped(m.Method)).AppendResponse(nil, m.ID)
}

// notice passes a notification on, if the client wants to hear it.
func (r relay) notice(m *wire.Message) {
	if m.Method == "notifications/message" && !r.c.hears(m) {
		return
	}
	m = r.d.named(m)
	raw := m.Raw
	if r.d.renames && m.Method != "notifications/progress" {
		raw = m.AppendWithMeta(nil, serverMark(r.d.server))
	}
	r.send(raw)
}

// named is a server's message with its URIs as the client knows them.
func (d *destination) named(m *wire.Message) *wire.Message {
	if !d.renames {
		return m
	}
	params := d.out.Params(m.Method, m.Params)
	if same(params, m.Params) {
		return m
	}
	renamed := m.WithParams(params)
	return &renamed
}

// send takes the stream of the call or, where it has none, the client's own.
func (r relay) send(msg []byte) bool {
	if r.a.x.Streams() {
		return r.a.x.Send(msg)
	}
	return r.c.era == era.Legacy && r.s.link != nil && r.s.link.Send(msg)
}

// isHeard reports whether the client is there, on the stream of the call or on its own.
func (r relay) isHeard() bool {
	return r.a.x.Heard() || r.s.link != nil && r.s.link.Heard()
}
