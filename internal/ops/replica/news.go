package replica

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// Kind is the kind of news.
type Kind string

// The kinds of news.
const (
	ListChanged  Kind = "list_changed"  // the sender has a new version of List of Server
	Reloaded     Kind = "reloaded"      // the sender has loaded a changed configuration
	PinsApproved Kind = "pins_approved" // the definitions of Tools of Server were approved there
	PinsRevoked  Kind = "pins_revoked"  // … and that was taken back
)

// News is a message to the other replicas. It may be lost, and replicas may ignore it.
type News struct {
	From   string            `json:"from"` // name of the sender
	Kind   Kind              `json:"kind"`
	Server string            `json:"server,omitempty"`
	List   string            `json:"list,omitempty"`  // the list's method
	Tools  map[string]string `json:"tools,omitempty"` // digest of the approved definition, by tool
}

// newsChannel is the pub/sub channel.
var newsChannel = redisdb.Key("replica", "news", "")

// maxNews limits the queue of outgoing news. Further news is lost, as it is while the engine is
// unreachable.
const maxNews = 256

// Tell queues news for the others. It does not block.
func (g *Group) Tell(n News) {
	if g == nil {
		return
	}
	n.From = g.name
	select {
	case g.news <- n:
	default:
		g.Count(NewsLost, 1)
	}
}

// publish sends queued news until ctx is done.
func (g *Group) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-g.news:
			b, err := json.Marshal(n)
			if err == nil {
				// the engine's owner reports whether it answers
				err = g.opt.DB.Publish(ctx, newsChannel, b).Err()
			}
			if err != nil {
				g.Count(NewsLost, 1)
				continue
			}
			g.Count(NewsSent, 1)
		}
	}
}

// listenAgain is the pause before the next attempt to subscribe.
const listenAgain = 250 * time.Millisecond

// listen passes on the others' news until ctx is done. It calls missed if news may have been lost,
// after the engine was unreachable.
func (g *Group) listen(ctx context.Context, heard func(News), missed func()) {
	for first := true; ctx.Err() == nil; {
		sub := g.opt.DB.Subscribe(ctx, newsChannel)
		messages := sub.ChannelWithSubscriptions()
		for m := range received(ctx, messages) {
			switch m := m.(type) {
			case *redis.Subscription:
				if !first {
					missed()
				}
				first = false
			case *redis.Message:
				var n News
				if json.Unmarshal([]byte(m.Payload), &n) == nil && n.From != g.name {
					g.Count(NewsReceived, 1)
					heard(n)
				}
			}
		}
		_ = sub.Close()
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// received iterates over messages until the channel is closed or ctx is done.
func received(ctx context.Context, messages <-chan any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case m, ok := <-messages:
				if !ok || !yield(m) {
					return
				}
			}
		}
	}
}
