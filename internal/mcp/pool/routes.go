package pool

import (
	"cmp"
	"context"
	"slices"

	"secateur/internal/access"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// route decides who receives the server's messages of this method.
func (c *Conn) route(method string) routing.Decision {
	return c.pool.roster.Load().routes.Decide(c.ID(), method)
}

// refuses reports whether a route refuses the server's requests of this method.
func (c *Conn) refuses(method string) bool { return c.route(method).To == routing.Drop }

// routedCall handles what a server sends during a member's call. A route may direct it to others
// than the caller.
type routedCall struct {
	conn   *Conn
	caller upstream.Handler
	hears  bool // the caller has an Observer, which gets messages for several members
}

// Serve passes one message on.
func (r *routedCall) Serve(ctx context.Context, m *wire.Message) []byte {
	d := r.conn.route(m.Method)
	switch {
	case d.IsOnCall():
		return r.caller.Serve(ctx, m)
	case m.Kind() == wire.Request:
		return r.conn.askRouted(ctx, d, m)
	}
	if d.To != routing.Drop && !r.hears && d.Names(subjectOf(ctx)) {
		r.caller.Serve(ctx, m) // the caller of this very call
	}
	r.conn.tell(r.conn.routedTo(d, m), m)
	return nil
}

func subjectOf(ctx context.Context) string {
	if p := access.FromContext(ctx); p != nil {
		return p.Subject
	}
	return ""
}

// routedTo returns the members that a route sends a notification to, in the order they joined.
func (c *Conn) routedTo(d routing.Decision, n *wire.Message) []*Member {
	var found []*Member
	switch d.To {
	case routing.Asked:
		found = c.askedFor(n)
	case routing.All, routing.Principals:
		found = c.pool.observers(c.ID(), func(m *Member) bool { return d.Names(m.subject()) && m.hearsLevel(n) })
	}
	slices.SortFunc(found, func(x, y *Member) int { return cmp.Compare(x.number, y.number) })
	return found
}

// askedFor returns the members that have requested this kind of notification.
func (c *Conn) askedFor(n *wire.Message) []*Member {
	switch n.Method {
	case methodUpdated:
		return c.fanout.subscribedTo(n.URI)
	case methodMessage:
		return c.fanout.those(func(m *Member) bool { return m.level.Load() != 0 && m.hearsLevel(n) })
	}
	return c.fanout.everyone()
}

const (
	methodMessage = "notifications/message"
	methodUpdated = "notifications/resources/updated"
)

// hearsLevel reports whether the member's level admits a log message. It admits all other
// notifications.
func (m *Member) hearsLevel(n *wire.Message) bool {
	l := logLevel(n)
	return n.Method != methodMessage || l == 0 || l >= level(m.level.Load())
}

// subject returns the principal of the member's client; "": not known yet.
func (m *Member) subject() string {
	if m.client.Subject == nil {
		return ""
	}
	return m.client.Subject()
}

// observers returns the members with an Observer that see a server and are wanted.
func (f *Pool) observers(server string, wanted func(*Member) bool) (found []*Member) {
	f.mu.Lock()
	for m := range f.hearing {
		if m.client.Only == "" || m.client.Only == server {
			found = append(found, m)
		}
	}
	f.mu.Unlock()
	return slices.DeleteFunc(found, func(m *Member) bool { return !wanted(m) })
}

// askRouted sends the request to the first member of the matching route that supports it.
func (c *Conn) askRouted(ctx context.Context, d routing.Decision, req *wire.Message) []byte {
	for _, m := range c.askable(d) {
		if !era.Declares(m.client.Capabilities, req.Method, req.Params) {
			continue
		}
		if answer := m.observer.Requested(ctx, c.ID(), req); answer != nil && !isNotOffered(answer) {
			return answer
		}
	}
	c.pool.log.DebugContext(ctx, "request of a server refused", "server", c.ID(), "method", req.Method, "to", string(d.To))
	return wire.NewError(wire.CodeMethodNotFound, "nobody is asked that").AppendResponse(nil, req.ID)
}

// askable returns the members that a request may go to, in the order they joined.
func (c *Conn) askable(d routing.Decision) (found []*Member) {
	switch d.To {
	case routing.Asked:
		found = c.fanout.everyone()
	case routing.All, routing.Principals:
		found = c.pool.observers(c.ID(), func(m *Member) bool { return d.Names(m.subject()) })
	}
	slices.SortFunc(found, func(x, y *Member) int { return cmp.Compare(x.number, y.number) })
	return found
}

// isNotOffered reports whether an answer says that the client does not support such a request.
func isNotOffered(answer []byte) bool {
	m, err := wire.ParseServer(answer, 0)
	return err == nil && m.Error != nil && m.ErrorCode() == wire.CodeMethodNotFound
}
