package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// unremembered counts failed writes of conversation records, so that the log has one line per
// minute instead of one per request.
type unremembered struct {
	mu    sync.Mutex // guards the fields below
	count int
	told  time.Time
}

const unrememberedEvery = time.Minute

// notRemembered logs, if it is time, that a part of a conversation was not recorded. A request of a
// client that has gone does not count: nothing is sent for it.
func (p *Proxy) notRemembered(ctx context.Context, what string, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	u := p.unremembered
	u.mu.Lock()
	u.count++
	count := u.count
	due := time.Since(u.told) >= unrememberedEvery
	if due {
		u.count, u.told = 0, time.Now()
	}
	u.mu.Unlock()
	if due {
		p.opt.Log.WarnContext(ctx, "conversations cannot be remembered", "what", what, "count", count, "err", err)
	}
}
