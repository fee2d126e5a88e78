package upstream

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// errRestarted is the reason when a connection ends because of Restart.
var errRestarted = errors.New("it was restarted on demand")

// Restart ends the current connection, or the attempt to open one. It waits until the server is
// ready again, has failed to start, or takes longer than callers wait for it; Status tells which. A
// plain or disabled server has nothing to restart. The error is ctx's own.
func (u *Upstream) Restart(ctx context.Context) error {
	v, ok := u.server.(*supervisor)
	if !ok {
		return nil
	}
	return v.restartNow(ctx)
}

// restartNow asks the supervisor for a new connection and waits for the result.
func (v *supervisor) restartNow(ctx context.Context) error {
	before := v.attempts.Load()
	v.askRestart()
	limit := time.NewTimer(v.u.startupTimeout() + stopSteps*v.u.shutdownGrace())
	defer limit.Stop()
	for {
		m := v.now.Load()
		anew := v.attempts.Load() > before
		if m.State == Stopped || anew && (m.conn != nil || m.State == Down) {
			return nil
		}
		select {
		case <-m.next:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (v *supervisor) askRestart() {
	select {
	case v.restart <- struct{}{}:
	default: // a restart is already requested
	}
}

// stopSteps is how many times shutdown_grace the end of a child may take.
const stopSteps = 2

// untilRestart returns a context that also ends when a restart is requested. The returned function
// stops watching and reports whether a restart was requested.
func (v *supervisor) untilRestart(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-v.restart:
			cancel(errRestarted)
		case <-over:
		}
	})
	return ctx, func() bool {
		close(over)
		watching.Wait()
		defer cancel(nil)
		return errors.Is(context.Cause(ctx), errRestarted)
	}
}

// Stderr returns the last lines that the server's newest process wrote to standard error. The lines
// of an ended process are kept until the next one starts. Values of its environment are masked.
func (u *Upstream) Stderr(lines int) []string {
	proc := u.newest.Load()
	if proc == nil || lines <= 0 {
		return nil
	}
	text := proc.Stderr(lines)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
