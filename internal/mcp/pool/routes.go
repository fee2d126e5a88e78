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

// route is whom goes to what the connection's server sends.
func (c *Conn) route(method string) routing.Decision {
	return c.pool.roster.Load().routes.Decide(c.ID(), method)
}

// refuses reports whether nobody is asked what the server asks.
func (c *Conn) refuses(method string) bool { return c.route(method).To == routing.Drop }

// routedCall takes what a server sends in a member's call: where the table says so it goes to others than the caller.
type routedCall struct {
	conn   *Conn
	caller upstream.Handler
	hears  bool // the caller has an Observer, which gets what goes to several
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
		r.caller.Serve(ctx, m) // who has asked for it in the very call
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

// routedTo are the members that a notification goes to where a row of the table says so, in the order in which they came.
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

// askedFor are the members that have asked to hear something like this.
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

// hearsLevel reports whether a log message is one that the member has not switched off; any other notification is.
func (m *Member) hearsLevel(n *wire.Message) bool {
	l := logLevel(n)
	return n.Method != methodMessage || l == 0 || l >= level(m.level.Load())
}

// subject is who the member's client is, "" as long as that is not known.
func (m *Member) subject() string {
	if m.client.Subject == nil {
		return ""
	}
	return m.client.Subject()
}

// observers are the members that hear something, see a server and are wanted.
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

// askRouted has a request answered by the first of those that a row names that can.
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

// askable are the members that a request may go to, in the order in which they came.
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

// isNotOffered reports whether an answer says that the client cannot be asked such a thing, now or ever.
func isNotOffered(answer []byte) bool {
	m, err := wire.ParseServer(answer, 0)
	return err == nil && m.Error != nil && m.ErrorCode() == wire.CodeMethodNotFound
}
