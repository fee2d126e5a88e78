package pool

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/wire"
)

// Serve handles the server's requests and notifications. The upstream calls it.
func (c *Conn) Serve(ctx context.Context, msg *wire.Message) []byte {
	if msg.Kind() == wire.Request {
		return c.requested(ctx, msg)
	}
	c.notified(msg)
	return nil
}

// requested answers a request that belongs to no call. Roots are known; any other request goes to
// the only member. With several members the target is ambiguous, so it is refused.
func (c *Conn) requested(ctx context.Context, req *wire.Message) []byte {
	switch d := c.route(req.Method); d.To {
	case routing.Default:
	case routing.Cause: // no call caused it
		return wire.NewError(wire.CodeMethodNotFound, "no client can be asked that outside of its calls").AppendResponse(nil, req.ID)
	default:
		return c.askRouted(ctx, d, req)
	}
	if req.Method == methodRoots {
		return c.listRoots(ctx, req)
	}
	everyone := c.fanout.everyone()
	if len(everyone) != 1 || !era.Declares(everyone[0].client.Capabilities, req.Method, req.Params) {
		c.pool.log.DebugContext(ctx, "request of a server refused", "server", c.ID(), "method", req.Method)
		return wire.NewError(wire.CodeMethodNotFound, "no client can be asked that outside of its calls").AppendResponse(nil, req.ID)
	}
	if answer := everyone[0].observer.Requested(ctx, c.ID(), req); answer != nil {
		return answer
	}
	return wire.NewError(wire.CodeInternal, "the client gave no answer").AppendResponse(nil, req.ID)
}

// announced records that lists have changed. The upstream calls it before anything else handles the
// notification, because a notification on a call's stream goes to its caller only.
func (c *Conn) announced(method string) {
	for l, m := range changeMethods {
		if m == method {
			c.stale(l)
		}
	}
}

func (c *Conn) notified(n *wire.Message) {
	switch n.Method {
	case "notifications/tools/list_changed":
		c.pass(catalog.Tools, n.Method)
	case "notifications/prompts/list_changed":
		c.pass(catalog.Prompts, n.Method)
	case "notifications/resources/list_changed":
		c.pass(catalog.Resources, n.Method)
	case "notifications/progress": // for a call that is over
	case "notifications/cancelled":
		if eraOf(c.peer.Load()) == era.Modern {
			c.listens.cancelled()
		}
	case "notifications/subscriptions/acknowledged":
		c.listens.acknowledged(n)
	default:
		c.tell(c.hearersOf(n), n)
	}
}

// hearersOf returns the members that get a notification outside any call.
func (c *Conn) hearersOf(n *wire.Message) []*Member {
	switch d := c.route(n.Method); {
	case d.To != routing.Default:
		return c.routedTo(d, n)
	case n.Method == methodUpdated:
		return c.fanout.subscribedTo(n.URI)
	case n.Method == methodMessage:
		return c.fanout.loggedTo(logLevel(n))
	}
	return c.fanout.everyone()
}

// pass tells members who see only this server that it announced a list change, whether or not the
// list differs. All others are notified when their merged list changes.
func (c *Conn) pass(l catalog.List, method string) {
	if c.route(method).To == routing.Drop {
		return
	}
	for _, m := range c.fanout.those((*Member).alone) {
		c.pool.mu.Lock()
		m.passed[l] = time.Now()
		c.pool.mu.Unlock()
		m.observer.ListChanged(l)
	}
}

// tell passes a notification to members. It removes the subscription id of a modern server, which
// is ours and means nothing to a member.
func (c *Conn) tell(members []*Member, n *wire.Message) {
	if len(members) == 0 {
		return
	}
	if c.speaks(era.Modern) {
		if bare := era.WithoutSubscription(n.Params); len(bare) != len(n.Params) {
			own := n.WithParams(bare)
			n = &own
		}
	}
	for _, m := range members {
		m.observer.Notified(c.ID(), n)
	}
}

// logLevel returns the level of a log message; 0: unknown.
func logLevel(n *wire.Message) level {
	var said struct {
		Level string `json:"level"`
	}
	if json.Unmarshal(n.Params, &said, lenient()) != nil {
		return 0
	}
	return levelOf(said.Level)
}
