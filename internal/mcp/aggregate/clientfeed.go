package aggregate

import (
	"context"
	"sync"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// clientFeed is what a legacy client gets outside its calls: list_changed, updates, logs, requests of servers. What
// comes before notifications/initialized waits for it.
type clientFeed struct {
	s *clientConn
	c *client

	ready chan struct{} // closed when the client has said that it is, or asked for something

	mu    sync.Mutex
	open  bool     // guarded by mu; ready is closed
	early [][]byte // guarded by mu; what came before
}

func newClientFeed(s *clientConn, c *client) *clientFeed {
	return &clientFeed{s: s, c: c, ready: make(chan struct{})}
}

// begin lets the client hear.
func (n *clientFeed) begin(ctx context.Context) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open {
		return
	}
	n.open = true
	close(n.ready)
	for _, msg := range n.early {
		n.send(msg)
	}
	n.early = nil
	n.s.askRoots(ctx, n.c)
}

// tell is for notifications.
func (n *clientFeed) tell(msg []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.open:
		n.send(msg)
	case len(n.early) < maxEarly:
		n.early = append(n.early, msg)
	}
}

// changeNotices tell of a list that has changed.
var changeNotices = map[catalog.List]string{
	catalog.Tools:     "notifications/tools/list_changed",
	catalog.Resources: "notifications/resources/list_changed",
	catalog.Templates: "notifications/resources/list_changed",
	catalog.Prompts:   "notifications/prompts/list_changed",
}

// ListChanged tells the client to list anew.
func (n *clientFeed) ListChanged(l catalog.List) {
	if f := n.c.frozen.Load(); l == catalog.Tools && n.c.profile != nil && n.c.profile.Search && (f == nil || !f.whole) {
		return // its list does not change
	}
	n.tell(wire.NewNotification(changeNotices[l], nil).Raw)
}

// Notified passes a server's notification on.
func (n *clientFeed) Notified(server string, m *wire.Message) {
	if !n.s.sees(server) {
		return
	}
	n.s.log.Debug("server notifies the client", "server", server, "method", m.Method)
	m = n.s.now.Load().Admission.RedactNotice(n.s.Principal(), access.DoorMCP, server, m)
	n.tell(n.s.forClient(server, m, n.s.uris.outgoing(server, m)))
}

// Requested has the client answer a server that asks outside any call.
func (n *clientFeed) Requested(ctx context.Context, server string, req *wire.Message) []byte {
	if n.s.link == nil || !n.s.sees(server) || !era.Declares(n.c.capabilities, req.Method, req.Params) {
		return notOffered(req)
	}
	select {
	case <-n.ready:
	case <-n.s.quiet:
		return notOffered(req)
	case <-ctx.Done():
		return notOffered(req)
	}
	if !n.s.link.Heard() {
		return notOffered(req) // over HTTP, nobody listens outside of calls
	}
	req = n.s.now.Load().Admission.RedactNotice(n.s.Principal(), access.DoorMCP, server, req)
	conn, err := n.c.member.Conn(ctx, server)
	if err != nil {
		return notOffered(req)
	}
	if n.s.only == "" {
		if params := (catalog.Outgoing{Server: server}).Params(req.Method, req.Params); !same(params, req.Params) {
			renamed := req.WithParams(params)
			req = &renamed
		}
	}
	answer := n.s.askClient(ctx, serverRequest{server, conn, req, n.s.only == "", n.send, n.s.link.Heard})
	return n.s.now.Load().Admission.RedactAnswer(n.s.Principal(), access.DoorMCP, server, answer)
}

func (n *clientFeed) send(msg []byte) bool { return n.s.link != nil && n.s.link.Send(msg) }

// forClient is a server's notification as the client is to get it.
func (s *clientConn) forClient(server string, m *wire.Message, out catalog.Outgoing) []byte {
	if s.only != "" {
		return m.Raw
	}
	if params := out.Params(m.Method, m.Params); !same(params, m.Params) {
		renamed := m.WithParams(params)
		m = &renamed
	}
	return m.AppendWithMeta(nil, serverMark(server))
}
