package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// stopWord is the interval of messages about what the shutdown waits for.
const stopWord = time.Second

// busyServers returns the ids of servers with calls in flight.
func (a *App) busyServers() (ids []string) {
	if a.servers == nil { // standalone pruner
		return nil
	}
	for _, s := range a.servers.Status() {
		if s.InFlight > 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// untilKilled returns a context that also ends when Kill is closed.
func (a *App) untilKilled(ctx context.Context, cancel context.CancelFunc) (context.Context, context.CancelFunc) {
	if a.opt.Kill == nil {
		return ctx, cancel
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-a.opt.Kill:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// cutShort says why requests in flight were cut off; err ended the wait for them.
func cutShort(err error) error {
	switch {
	case errors.Is(err, context.Canceled): // untilKilled
		return errors.New("requests were cut off by the second signal")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("requests were cut off: they went on for longer than response_timeout allows")
	}
	return fmt.Errorf("requests were cut off: %w", err)
}

// waitForServers waits until all servers have ended and reports which are left. A user who sees
// nothing for seconds would press Ctrl-C again.
func (a *App) waitForServers(ctx context.Context, servers *errgroup.Group) error {
	gone := make(chan error, 1)
	go func() { gone <- servers.Wait() }()
	word := time.NewTicker(stopWord)
	defer word.Stop()
	for {
		select {
		case err := <-gone:
			return err
		case <-word.C:
			a.log.InfoContext(ctx, "stopping, waiting for servers to end", "servers", a.servers.Ending(),
				"hint", "shutdown_grace says how long each has; another signal kills them")
		}
	}
}
