package replica

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// Kind is what news are about.
type Kind string

// The kinds of news.
const (
	ListChanged  Kind = "list_changed"  // List of Server is another at the replica that tells
	Reloaded     Kind = "reloaded"      // the configuration was read again there, and was another
	PinsApproved Kind = "pins_approved" // somebody has approved of Tools of Server there
)

// News are what a replica tells the others of, for those of its kind to act on or not: they may be lost.
type News struct {
	From   string            `json:"from"` // its name
	Kind   Kind              `json:"kind"`
	Server string            `json:"server,omitempty"`
	List   string            `json:"list,omitempty"`  // the method that lists it
	Tools  map[string]string `json:"tools,omitempty"` // by name, the digest of the definition that was approved of
}

// newsChannel is where they are told (pub/sub).
var newsChannel = redisdb.Key("replica", "news", "")

// maxNews bounds what waits to be told; what is more is lost, as it is with an engine that is away.
const maxNews = 256

// Tell tells the others, soon: it does not wait.
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

// publish tells what there is to tell until ctx is done.
func (g *Group) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-g.news:
			b, err := json.Marshal(n)
			if err == nil {
				err = g.opt.DB.Publish(ctx, newsChannel, b).Err() // whether the engine answers is told by its owner
			}
			if err != nil {
				g.Count(NewsLost, 1)
				continue
			}
			g.Count(NewsSent, 1)
		}
	}
}

// listenAgain is how long to wait before another attempt to listen.
const listenAgain = 250 * time.Millisecond

// listen hands over the others' news until ctx is done. Missed is called whenever some may have been lost: after the engine was away.
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

// received gives messages until there are no more, or ctx is done.
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
