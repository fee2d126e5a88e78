package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// unremembered counts what could not be written down of conversations, so that the log has a line a minute of it and not one a request.
type unremembered struct {
	mu    sync.Mutex // guards the fields below
	count int
	told  time.Time
}

const unrememberedEvery = time.Minute

// notRemembered tells, where it is time to, that something of a conversation was not written down. Of a request whose client has gone nothing is sent.
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
