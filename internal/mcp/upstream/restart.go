package upstream

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// errRestarted is why a connection ends that somebody asked to begin anew.
var errRestarted = errors.New("it was restarted on demand")

// Restart ends the present connection, or the attempt to open one, and waits until the server is there again, or has failed to be, or
// takes longer than its callers wait for it: Status tells which. A plain server and a disabled one have nothing to restart. The error is
// ctx's own.
func (u *Upstream) Restart(ctx context.Context) error {
	v, ok := u.server.(*supervisor)
	if !ok {
		return nil
	}
	return v.restartNow(ctx)
}

// restartNow asks the supervisor for a new connection and waits for how that goes.
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
	default: // one is asked for already
	}
}

// stopSteps is how many times shutdown_grace the end of a child may take.
const stopSteps = 2

// untilRestart is a context that ends too when a restart is asked for. The returned function joins what watches for that, and reports
// whether one was.
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

// Stderr is the end of what the server's newest process wrote to its standard error, at most so many lines; those of a process that has
// ended are kept until the next one starts. Values of its environment are masked.
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
