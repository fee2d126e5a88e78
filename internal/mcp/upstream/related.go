package upstream

// MCP, "Progress", and the subscriptions of 2026-07-28, whose notifications name the request that
// opened them.

import (
	"context"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// progressed passes progress to the call's handler, under the caller's token. Progress with an
// unknown token, or for a call that is over, is dropped.
func (s *connection) progressed(ctx context.Context, msg *wire.Message, origin *call) {
	if origin != nil {
		origin.renew() // any progress shows that the server is working
	}
	c := s.calls.find(wire.IDOf(msg.ProgressToken()))
	if c == nil {
		return
	}
	c.renew()
	if c.related == nil || c.token.IsZero() {
		return
	}
	if mine := s.remade(ctx, msg, wire.Rewrite{ProgressToken: c.token}); mine != nil {
		s.offer(ctx, c, mine)
	}
}

// remade returns a message with some values replaced; nil if that fails.
func (s *connection) remade(ctx context.Context, msg *wire.Message, r wire.Rewrite) *wire.Message {
	mapped, err := wire.ParseServer(msg.AppendRewritten(nil, r), 0)
	if err != nil {
		s.u.log.DebugContext(ctx, "notification dropped: it cannot be rewritten", "method", msg.Method, "err", err)
		return nil
	}
	return &mapped
}

// subscription returns the call that a modern server's notification names as its subscription.
func (s *connection) subscription(msg *wire.Message) *call {
	if s.era() != era.Modern {
		return nil
	}
	id := rawjson.Get(msg.Meta(), era.MetaSubscription)
	if id == nil {
		return nil
	}
	return s.calls.find(wire.IDOf(id))
}

// subscriptionMeta returns the _meta member that names a subscription by its caller's id.
func subscriptionMeta(id wire.ID) []byte {
	return id.Append([]byte(`"` + era.MetaSubscription + `":`))
}

func (s *connection) offer(ctx context.Context, c *call, msg *wire.Message) {
	if !c.related.offer(msg) {
		s.u.log.DebugContext(ctx, "notification dropped: its caller does not keep up", "method", msg.Method)
	}
}

// related returns the call with a handler that a notification belongs to. It is the call on whose
// stream it arrived or, without streams, the only call. Notifications about the server itself
// belong to no call.
func (s *connection) related(method string, origin *call) *call {
	if origin == nil && method == "notifications/message" {
		origin = s.calls.only()
	}
	if origin == nil || origin.handler == nil {
		return nil
	}
	return origin
}
