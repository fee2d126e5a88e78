package upstream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/era"
)

// supervisor runs a server with connections: one at a time, and the next when the last has ended.
type supervisor struct {
	u        *Upstream
	open     opener
	patience int           // how many times startup_timeout an attempt may take
	mayBeSSE bool          // if the server does not know open's transport, try HTTP+SSE
	wake     chan struct{} // a call wants the next attempt now
	restart  chan struct{} // a new connection is requested
	attempts atomic.Int64  // number of attempts begun

	now atomic.Pointer[snapshot]
	mu  sync.Mutex // held while now is replaced
}

func newSupervisor(u *Upstream) *supervisor {
	v := &supervisor{u: u, patience: 1, wake: make(chan struct{}, 1), restart: make(chan struct{}, 1)}
	switch s := u.opt.Settings; {
	case s.Builtin != "":
		v.open = openLocal
	case s.URL != "" && s.Transport == TransportSSE:
		v.open = openHTTPSSE
	case s.URL != "":
		v.open, v.mayBeSSE = openStreamable, s.Protocol != ProtocolModern
	default:
		v.open, v.patience = openPipes, childPatience
	}
	v.now.Store(&snapshot{Status: Status{State: Starting, Since: time.Now()}, next: make(chan struct{})})
	return v
}

var errStopped = errors.New("it was stopped")

func (v *supervisor) run(ctx context.Context) {
	var telling sync.WaitGroup
	telling.Go(func() { v.u.opened.run(ctx) })
	var waits Backoff
	for ctx.Err() == nil {
		began := time.Now()
		s, err := v.start(ctx)
		ran, useful := err == nil, false
		if ran {
			err = v.serve(ctx, s)
			useful = s.served.Load()
			if time.Since(began) > sustained {
				waits.Reset()
			}
		}
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, errRestarted) {
			v.u.log.InfoContext(ctx, "server restarted on demand")
			waits.Reset()
			continue
		}
		wait := waits.Next()
		v.report(ctx, err, ran, wait)
		v.pause(ctx, err, ran && (useful || waits.failures == 1), wait)
	}
	v.become(Stopped, func(m *snapshot) { v.stop(m) })
	telling.Wait()
	v.u.admission.drain()
}

// start makes one attempt.
func (v *supervisor) start(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, v.startLimit(), errStartTimeout)
	defer cancel()
	if v.now.Load().State != Starting {
		v.become(Restarting, func(m *snapshot) {
			m.Restarts++
			m.wakeable = never
		})
	}
	v.attempts.Add(1)
	ctx, joined := v.untilRestart(ctx)
	s, err := openConnection(ctx, v.u, v.open, v.begin)
	if v.mayBeSSE && lacksStreamable(err) {
		s, err = v.startSSE(ctx, err)
	}
	select {
	case <-v.wake: // the attempt that was requested has been made
	default:
	}
	switch interrupted := joined(); {
	case interrupted && err != nil:
		return nil, errRestarted
	case interrupted: // too late for this attempt
		v.askRestart()
	}
	return s, err
}

// lacksStreamable reports whether a failed start suggests a server older than Streamable HTTP. Such
// a server refuses the first POST without a JSON-RPC error.
func lacksStreamable(err error) bool {
	failed, ok := errors.AsType[*CallError](err)
	return ok && failed.foreign && slices.Contains([]int{400, 404, 405}, failed.HTTPStatus)
}

// startSSE tries the older transport. If the server does not know that either, it returns the
// original error.
func (v *supervisor) startSSE(ctx context.Context, why error) (*connection, error) {
	s, err := openConnection(ctx, v.u, openHTTPSSE, v.begin)
	if _, none := errors.AsType[*noStream](err); none {
		return nil, why
	}
	return s, err
}

// serve watches a connection until it ends and returns the reason.
func (v *supervisor) serve(ctx context.Context, s *connection) error {
	v.become(Ready, func(m *snapshot) {
		m.conn, m.err, m.PID, m.Up = s, nil, s.pid(), time.Now()
	})
	v.u.opened.note(s)
	peer := s.peer.Load()
	v.u.log.InfoContext(ctx, "server ready", "name", peer.ServerName, "era", string(peer.Era), "protocol", peer.Protocol)
	err := v.watch(ctx, s)
	if ctx.Err() != nil {
		v.become(Stopped, func(m *snapshot) { v.stop(m) })
	} else {
		v.become(Restarting, func(m *snapshot) {
			before := m.LastError
			v.fail(m, err)
			m.wakeable = 0
			if errors.Is(err, errRestarted) { // not a failure of the server
				m.LastError = before
			}
		})
	}
	s.close(err)
	return err
}

// stop fills the final snapshot. Calls then fail with errStopped, not with an earlier error.
func (v *supervisor) stop(m *snapshot) {
	m.conn, m.err, m.PID, m.Up = nil, v.u.callError(errStopped), 0, time.Time{}
}

// watch waits for a connection's end, or for a reason to end it.
func (v *supervisor) watch(ctx context.Context, s *connection) error {
	var checks health
	defer checks.stop()
	misses := 0
	for {
		checks.every(v.u.bounds.Load().HealthInterval)
		select {
		case <-ctx.Done():
			return errStopped
		case <-s.over:
			return s.why
		case <-v.restart:
			return errRestarted
		case <-v.u.rebound:
			continue
		case <-checks.due:
		}
		if s.beats(ctx) {
			if misses > 0 {
				v.become(Ready, nil)
			}
			misses = 0
			continue
		}
		misses++
		if ctx.Err() == nil && misses == 1 {
			v.become(Degraded, func(m *snapshot) { m.LastError = "it missed a health check" })
		}
		if misses >= maxMisses && len(s.calls.callers()) == 0 {
			return errSilent
		}
	}
}

// health schedules the health checks of a server.
type health struct {
	interval time.Duration // 0: off
	ticker   *time.Ticker  // nil: off
	due      <-chan time.Time
}

// every sets the interval between checks; 0: off.
func (h *health) every(interval time.Duration) {
	if interval == h.interval {
		return
	}
	h.stop()
	if h.interval = interval; interval > 0 {
		h.ticker = time.NewTicker(interval)
		h.due = h.ticker.C
	}
}

func (h *health) stop() {
	if h.ticker != nil {
		h.ticker.Stop()
	}
	h.ticker, h.due = nil, nil
}

// maxMisses is the number of consecutive health checks that a server without calls may fail.
const maxMisses = 3

var errSilent = errors.New("it did not answer three health checks in a row")

// beats performs a health check. Any answer counts as healthy.
func (s *connection) beats(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.u.bounds.Load().HealthTimeout)
	defer cancel()
	req := ownRequest(methodPing, "")
	if s.era() == era.Modern {
		req = discoverRequest(s.u)
	}
	_, err := s.ask(ctx, req)
	failed, ok := errors.AsType[*CallError](err)
	return err == nil || ok && failed.Kind == Invalid && failed.HTTPStatus < 500
}

func (v *supervisor) report(ctx context.Context, err error, ran bool, wait time.Duration) {
	log := v.u.log.With("err", err, "next_attempt_ms", wait.Milliseconds())
	if ran {
		log.WarnContext(ctx, "server ended")
		return
	}
	if start, ok := errors.AsType[*startFailure](err); ok && start.stderr != "" {
		log = log.With("stderr", start.stderr)
	}
	log.WarnContext(ctx, "server did not start")
}

// never is longer than any wait.
const never = time.Duration(1<<63 - 1)

// pause waits for the backoff, or until a call wakes it. hopeful means that the server worked
// before and may soon work again. Calls then wait for it and may wake it at once.
func (v *supervisor) pause(ctx context.Context, err error, hopeful bool, wait time.Duration) {
	state, wakeable := Restarting, time.Duration(0)
	if !hopeful {
		state, wakeable = Down, wakeAfter
		select {
		case <-v.wake: // meant for the attempt that has just failed
		default:
		}
	}
	v.become(state, func(m *snapshot) {
		v.fail(m, err)
		m.Since, m.wakeable = time.Now(), wakeable
	})
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-v.wake:
	case <-v.restart:
	}
}
