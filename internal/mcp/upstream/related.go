package upstream

// MCP, "Progress", and the subscriptions of 2026-07-28, whose notifications name the request that asked for them.

import (
	"context"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// progressed gives a call's handler its progress, under the token that its caller chose. What has a token that no
// caller chose, or did once and for a call that is over, is nobody's.
func (s *connection) progressed(ctx context.Context, msg *wire.Message, origin *call) {
	if origin != nil {
		origin.renew() // whatever it says, the server is at work
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

// remade is a message with some of it replaced; nil if that cannot be.
func (s *connection) remade(ctx context.Context, msg *wire.Message, r wire.Rewrite) *wire.Message {
	mapped, err := wire.ParseServer(msg.AppendRewritten(nil, r), 0)
	if err != nil {
		s.u.log.DebugContext(ctx, "notification dropped: it cannot be rewritten", "method", msg.Method, "err", err)
		return nil
	}
	return &mapped
}

// subscription is the call that a modern server's notification names as the one that asked for it.
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

// subscriptionMeta names a subscription by its caller's id.
func subscriptionMeta(id wire.ID) []byte {
	return id.Append([]byte(`"` + era.MetaSubscription + `":`))
}

func (s *connection) offer(ctx context.Context, c *call, msg *wire.Message) {
	if !c.related.offer(msg) {
		s.u.log.DebugContext(ctx, "notification dropped: its caller does not keep up", "method", msg.Method)
	}
}

// related is the call with a handler that a notification of the server belongs to: by the stream it came on or, without
// streams, because there is no other. News about the server itself belong to none.
func (s *connection) related(method string, origin *call) *call {
	if origin == nil && method == "notifications/message" {
		origin = s.calls.only()
	}
	if origin == nil || origin.handler == nil {
		return nil
	}
	return origin
}
