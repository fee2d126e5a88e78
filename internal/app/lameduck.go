package app

import (
	"context"
	"net"
	"net/http"
	"slices"
	"time"
)

// settle is how long connections that are being made have to arrive once no new ones are let in: the last part of drain_delay.
const settle = 100 * time.Millisecond

// Those that have arrived are waited for until they are taken up, on a machine that is busy: so long at most, and looked at so often.
const (
	takeUp  = 2 * time.Second
	lookGap = 10 * time.Millisecond
)

// lameDuck waits for as long as the configuration says, so that a load balancer sees that we are not ready and sends no more.
// One that does not ask keeps sending, so meanwhile every answer ends its connection (leave), and before the listener
// closes no new connection is let in: the system resets those that were made and not yet accepted, with the requests that are on them,
// while one that was never made can be made elsewhere. A request that has come is not left unread either, on a connection that rests and would be closed.
func (a *App) lameDuck(drain context.Context, ln net.Listener) {
	delay := a.live.Load().cfg.DrainDelay
	last := min(settle, delay/2)
	wait(drain, delay-last)
	if last == 0 {
		return
	}
	refuseConnections(ln)
	wait(drain, last)
	for began := time.Now(); drain.Err() == nil && time.Since(began) < takeUp && (hasUnaccepted(ln) || a.connections.haveUnread()); {
		wait(drain, lookGap)
	}
}

// haveUnread reports whether something has come on a connection that nobody uses.
func (c *connections) haveUnread() bool {
	c.mu.Lock()
	resting := make([]net.Conn, 0, len(c.open))
	for conn := range c.open {
		if conn.rests.Load() > 0 {
			resting = append(resting, conn.Conn)
		}
	}
	c.mu.Unlock()
	return slices.ContainsFunc(resting, hasUnread)
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// leave asks the client to use another connection for its next request, once we are about to stop.
func (a *App) leave(w http.ResponseWriter) {
	if a.draining.Load() {
		w.Header().Set("Connection", "close")
	}
}
