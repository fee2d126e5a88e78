package pool

import (
	"context"
	"fmt"
	"sync"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// Restart restarts the server's connections and waits until each is ready or has failed; Status
// tells which. It starts a server that has not been needed yet. The error is ErrUnknownServer,
// ErrOver, or ctx's own.
func (f *Pool) Restart(ctx context.Context, id string) error {
	running, resting, err := f.connsOf(id)
	if err != nil {
		return err
	}
	errs := make([]error, len(running))
	var waits sync.WaitGroup
	for i, c := range running {
		waits.Go(func() { errs[i] = c.up.Restart(ctx) })
	}
	waits.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if resting == nil {
		return nil
	}
	select {
	case <-resting.met:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Refresh fetches a server's lists again and waits for the result. The error is ErrUnknownServer,
// ErrOver, or ctx's own.
func (f *Pool) Refresh(ctx context.Context, id string) error {
	running, _, err := f.connsOf(id)
	if err != nil {
		return err
	}
	var fetched []<-chan struct{}
	for _, c := range running {
		if !c.isUp() && !c.s.plain() {
			continue
		}
		offers := c.offers()
		for l := range c.caches {
			if offers.list(catalog.List(l)) {
				fetched = append(fetched, c.caches[l].fetch(c))
			}
		}
	}
	for _, done := range fetched {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// connsOf returns the started connections of a server. If none is, it starts the shared one and
// returns it as started.
func (f *Pool) connsOf(id string) (running []*Conn, started *Conn, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == stopped {
		return nil, nil, ErrOver
	}
	for _, s := range f.roster.Load().all {
		if s.settings.ID != id {
			continue
		}
		for _, c := range s.conns {
			if c.wanted {
				running = append(running, c)
			}
		}
		if running == nil && s.shared != nil {
			started = s.shared
			f.start(started)
		}
		return running, started, nil
	}
	return nil, nil, fmt.Errorf("%w: %q", ErrUnknownServer, id)
}

// Details is further information about a server beside its status.
type Details struct {
	Settings upstream.Settings
	Lists    catalog.ServerLists // the last known lists; empty: not known
	Stderr   func(lines int) []string
}

// Details returns further information about a server; false if the id is unknown.
func (f *Pool) Details(id string) (Details, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.roster.Load().all {
		if s.settings.ID != id {
			continue
		}
		d := Details{Settings: s.now(), Lists: catalog.ServerLists{Server: id}, Stderr: func(int) []string { return nil }}
		c, listed := s.shown()
		if listed != nil {
			d.Lists = listed.lists()
		}
		if c != nil {
			d.Stderr = c.up.Stderr
		}
		return d, true
	}
	return Details{}, false
}
