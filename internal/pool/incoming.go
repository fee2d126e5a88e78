package pool

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"secateur/internal/catalog"
	"secateur/internal/era"
	"secateur/internal/rpc"
)

// Serve takes what the server sends of its own accord. It is called by the upstream.
func (c *Conn) Serve(ctx context.Context, msg *rpc.Message) []byte {
	if msg.Kind() == rpc.Request {
		return c.requested(ctx, msg)
	}
	c.notified(msg)
	return nil
}

// requested answers a request that belongs to no call: roots are known, anything else is for the only member there is.
// Of several, nobody can say who is meant.
func (c *Conn) requested(ctx context.Context, req *rpc.Message) []byte {
	if req.Method == methodRoots {
		return c.listRoots(ctx, req)
	}
	everyone := c.fanout.everyone()
	if len(everyone) != 1 || !era.Declares(everyone[0].client.Capabilities, req.Method, req.Params) {
		c.pool.log.DebugContext(ctx, "request of a server refused", "server", c.ID(), "method", req.Method)
		return rpc.NewError(rpc.CodeMethodNotFound, "no client can be asked that outside of its calls").AppendResponse(nil, req.ID)
	}
	if answer := everyone[0].observer.Requested(ctx, c.ID(), req); answer != nil {
		return answer
	}
	return rpc.NewError(rpc.CodeInternal, "the client gave no answer").AppendResponse(nil, req.ID)
}

func (c *Conn) notified(n *rpc.Message) {
	switch n.Method {
	case "notifications/tools/list_changed":
		c.stale(catalog.Tools)
		c.pass(catalog.Tools)
	case "notifications/prompts/list_changed":
		c.stale(catalog.Prompts)
		c.pass(catalog.Prompts)
	case "notifications/resources/list_changed":
		c.stale(catalog.Resources, catalog.Templates)
		c.pass(catalog.Resources)
	case "notifications/progress": // of a call that is over
	case "notifications/cancelled":
		if eraOf(c.peer.Load()) == era.Modern {
			c.listens.cancelled()
		}
	case "notifications/subscriptions/acknowledged":
		c.listens.acknowledged(n)
	case "notifications/resources/updated":
		c.tell(c.fanout.subscribedTo(n.URI), n)
	case "notifications/message":
		c.tell(c.fanout.loggedTo(logLevel(n)), n)
	default:
		c.tell(c.fanout.everyone(), n)
	}
}

// pass tells members who see this server alone that it says a list has changed. They hear what it says, whether or not
// it is so; all others hear what has become of the merged list.
func (c *Conn) pass(l catalog.List) {
	for _, m := range c.fanout.those((*Member).alone) {
		c.pool.mu.Lock()
		m.passed[l] = time.Now()
		c.pool.mu.Unlock()
		m.observer.ListChanged(l)
	}
}

// tell passes a notification on. The subscription that a modern server names is ours and means nothing to a member.
func (c *Conn) tell(members []*Member, n *rpc.Message) {
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

// logLevel is that of a log message; 0: none that we know.
func logLevel(n *rpc.Message) level {
	var said struct {
		Level string `json:"level"`
	}
	if json.Unmarshal(n.Params, &said, lenient()) != nil {
		return 0
	}
	return levelOf(said.Level)
}
