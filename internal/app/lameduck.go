package app

import (
	"context"
	"net"
	"net/http"
	"slices"
	"time"
)

// settle is how long connections in progress have to arrive once new ones are refused: the last
// part of drain_delay.
const settle = 100 * time.Millisecond

// Arrived connections may take this long to be served on a busy machine, and are checked at this
// interval.
const (
	takeUp  = 2 * time.Second
	lookGap = 10 * time.Millisecond
)

// lameDuck waits for the configured delay. A load balancer then sees that we are not ready and
// stops sending requests. A balancer without health checks keeps sending, so meanwhile every
// response closes its connection (leave). Before the listener closes, new connections are refused.
// Otherwise the system would reset established connections that are not yet accepted, together with
// their requests. A refused client can connect elsewhere. lameDuck also waits until requests that
// arrived on idle connections are read.
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

// haveUnread reports whether an idle connection has unread bytes.
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

// leave asks the client to use another connection for its next request once we are draining.
func (a *App) leave(w http.ResponseWriter) {
	if a.draining.Load() {
		w.Header().Set("Connection", "close")
	}
}
