package upstream

import (
	"context"
	"errors"
	"time"

	"secateur/internal/mcp/wire"
)

// snapshot is an immutable state of a server. next is closed when a newer snapshot replaces it.
type snapshot struct {
	Status
	conn     *connection   // set while ready or degraded
	attempt  *attempt      // the current attempt to start the server; nil: none
	err      error         // why no connection exists
	wakeable time.Duration // age at which a call may cut the backoff short
	next     chan struct{}
}

// become replaces the snapshot with a modified copy.
func (v *supervisor) become(state State, change func(m *snapshot)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.now.Load()
	m := *old
	m.next = make(chan struct{})
	if m.State != state {
		m.State, m.Since = state, time.Now()
	}
	if change != nil {
		change(&m)
	}
	v.now.Store(&m)
	close(old.next)
	if changed := v.u.opt.Changed; changed != nil && m.State != old.State {
		told := m.Status
		told.ID = v.u.ID()
		changed(told)
	}
}

// fail records why no connection exists.
func (v *supervisor) fail(m *snapshot, err error) {
	failed := v.u.callError(err)
	m.conn, m.err, m.LastError, m.PID, m.Up = nil, failed, failed.Message, 0, time.Time{}
}

// live returns a snapshot with a connection. It waits for one that is being opened. If the server
// is in backoff, it requests an attempt once.
func (v *supervisor) live(ctx context.Context) (*snapshot, error) {
	m := v.now.Load()
	if m.conn != nil {
		return m, nil
	}
	limit := time.NewTimer(v.u.startupTimeout())
	defer limit.Stop()
	asked := false
	for {
		switch {
		case m.conn != nil:
			return m, nil
		case v.isLate(m.attempt):
			return nil, v.u.errorf(Unavailable, "%s", v.lateness(m.attempt))
		case m.State == Stopped:
			return nil, m.err
		case m.State == Down && (asked || time.Since(m.Since) < m.wakeable):
			return nil, m.err
		case (m.State == Down || m.State == Restarting && m.wakeable == 0) && !asked:
			asked = true
			select {
			case v.wake <- struct{}{}:
			default:
			}
		}
		if m.attempt != nil {
			limit.Reset(v.u.startupTimeout() - time.Since(m.attempt.began))
		}
		select {
		case <-m.next:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limit.C:
			if m = v.now.Load(); m.attempt == nil && m.conn == nil {
				return nil, v.u.errorf(Unavailable, "it is still starting after %s (startup_timeout)", v.u.startupTimeout())
			}
		}
		m = v.now.Load()
	}
}

// maxTries limits the retries of a call that was not sent because its connections ended.
const maxTries = 3

func (v *supervisor) call(ctx context.Context, req *wire.Message, opt CallOptions) (*Reply, error) {
	for try := 1; ; try++ {
		m, err := v.live(ctx)
		if err != nil {
			return nil, err
		}
		reply, err := m.conn.do(ctx, req, opt)
		unsent, ok := errors.AsType[*notSent](err)
		if !ok {
			return reply, err
		}
		if try == maxTries {
			return nil, unsent.CallError
		}
		select {
		case <-m.next: // the connection is over; its supervisor is about to notice
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (v *supervisor) notify(ctx context.Context, n *wire.Message) error {
	m, err := v.live(ctx)
	if err != nil {
		return err
	}
	return m.conn.notify(ctx, n)
}

func (v *supervisor) peer(ctx context.Context) (*Peer, error) {
	m, err := v.live(ctx)
	if err != nil {
		return nil, err
	}
	return m.conn.peer.Load(), nil
}

func (v *supervisor) status() Status {
	m := v.now.Load()
	s := m.Status
	if v.isLate(m.attempt) {
		s.Late, s.LastError = true, v.lateness(m.attempt)
	}
	if m.conn != nil {
		p := m.conn.peer.Load()
		s.Era, s.Protocol, s.ServerName = p.Era, p.Protocol, p.ServerName
		s.Skipped = m.conn.noise.Load()
	}
	return s
}
