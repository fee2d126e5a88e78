package app

import (
	"context"
	"time"

	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
)

// ServerStart is how a server came up.
type ServerStart struct {
	ID     string
	State  string // ready, disabled; or down, or starting for too long, and Error says why
	Tools  int    // how many it lists
	Listed bool   // it has said which; else it takes its time
	Error  string
}

const (
	startLook  = 100 * time.Millisecond // between two looks at the servers that are starting
	startQuiet = 300 * time.Millisecond // in which nothing is said about it: most come up
	startWord  = 10 * time.Second       // after which it is said again who is still starting
	listingMay = 10 * time.Second       // how long a server that is there is waited for to list its tools
)

// watchStart tells how the servers come up, until each has, or has shown that it cannot or needs longer than
// startup_timeout, or ctx is done.
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

// stillStarting are the ids of the servers of which it cannot be said yet how they came up.
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
