// Roots: protocol revisions 2024-11-05 to 2025-11-25, client features, roots/list.

package aggregate

import (
	"context"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

const (
	methodRoots  = "roots/list"
	rootsChanged = "notifications/roots/list_changed"
)

// askRoots asks a legacy client for its roots, when it comes and when it says that they changed. Servers that ask for
// them outside its calls are answered with what it said.
func (s *clientConn) askRoots(ctx context.Context, c *client) {
	if s.link == nil || !era.Declares(c.capabilities, methodRoots, nil) {
		return
	}
	ctx, done := s.inFlight.Begin(context.WithoutCancel(ctx), wire.ID{}) // it ends with the session
	if !s.jobs.run(func() {
		defer done()
		req := wire.NewRequest(wire.NumberID(0), methodRoots, nil)
		answer := s.askClient(ctx, serverRequest{req: &req, send: c.feed.send})
		if ctx.Err() == nil {
			c.keepRoots(answer)
		}
	}) {
		done()
	}
}

// keepRoots takes in a whole response to roots/list. A client that refuses has none.
func (c *client) keepRoots(answer []byte) {
	said, err := wire.ParseServer(answer, 0)
	if err != nil || said.Error != nil {
		c.member.SetRoots(nil)
		return
	}
	c.member.SetRoots(said.Result)
}

// knownRoots answers a server that asks for roots in a client's call, if the client has said which they are.
func (c *client) knownRoots(req *wire.Message) []byte {
	if req.Method != methodRoots {
		return nil
	}
	result, known := c.member.Roots()
	if !known {
		return nil
	}
	return wire.AppendResult(nil, req.ID, result)
}
