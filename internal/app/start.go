package app

import (
	"context"
	"time"

	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
)

// ServerStart is the result of starting a server.
type ServerStart struct {
	ID     string
	State  string // ready, disabled; or down or starting for too long, with the reason in Error
	Tools  int    // number of listed tools
	Listed bool   // it has listed its tools; otherwise it is still busy
	Error  string
}

const (
	startLook  = 100 * time.Millisecond // interval of checks on starting servers
	startQuiet = 300 * time.Millisecond // quiet time at first: most servers come up within it
	startWord  = 10 * time.Second       // interval of messages about servers still starting
	listingMay = 10 * time.Second       // how long to wait for a ready server's list of tools
)

// watchStart reports how the servers come up. It ends when each is up, has failed or exceeded
// startup_timeout, or when ctx is done.
func (a *App) watchStart(ctx context.Context) {
	look := time.NewTicker(startLook)
	defer look.Stop()
	began := time.Now()
	next := began.Add(startQuiet)
	for {
		states := a.servers.Status()
		waiting := stillStarting(states, time.Now())
		if len(waiting) == 0 {
			a.opt.Started(serverStarts(states))
			return
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(startWord)
			a.opt.Starting(waiting, time.Since(began).Truncate(time.Second))
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// stillStarting returns the ids of servers whose start is not decided yet.
func stillStarting(states []pool.Status, now time.Time) (ids []string) {
	for _, s := range states {
		isListing := s.State == upstream.Ready && !s.Listed && now.Sub(s.Since) < listingMay
		if s.State == upstream.Starting && !s.Late || isListing {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func serverStarts(states []pool.Status) []ServerStart {
	all := make([]ServerStart, len(states))
	for i, s := range states {
		all[i] = ServerStart{ID: s.ID, State: string(s.State), Tools: s.Tools, Listed: s.Listed, Error: presentError(s.Status)}
	}
	return all
}
