package pool

import (
	"context"
	"time"

	"secateur/internal/upstream"
)

// probeTimeout bounds how long a server may take to show that it speaks the modern era.
const probeTimeout = 5 * time.Second

// probe finds out whether a server that speaks the legacy era speaks the modern one too. Guarded by Pool.mu but for
// done.
type probe struct {
	began  time.Time
	ended  time.Time
	done   chan struct{} // closed when it is over
	modern bool          // it does
	sure   bool          // that it does not was seen while the server was there
	conn   *Conn         // if it does, the connection; another one when that is over
}

func (p *probe) over() bool { return isClosed(p.done) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// startProbe begins to find out. The pool is locked.
func (f *Pool) startProbe(s *server) {
	p := &probe{began: time.Now(), done: make(chan struct{})}
	s.probe = p
	f.crew.do(func(ctx context.Context) { f.try(ctx, s, p) })
}

// try opens a connection in the modern era and sees how that goes.
func (f *Pool) try(ctx context.Context, s *server, p *probe) {
	c, err := f.build(s, need{role: modern, protocol: upstream.ProtocolModern, caps: noCapabilities, trial: true})
	if err != nil {
		f.log.WarnContext(ctx, "connection not built", "server", s.settings.ID, "err", err)
		f.settle(s, p, nil)
		return
	}
	f.mu.Lock()
	if f.state != stopped {
		s.conns = append(s.conns, c)
		f.start(c)
	}
	f.mu.Unlock()
	limit := time.NewTimer(min(s.startupTimeout(), probeTimeout))
	defer limit.Stop()
	select {
	case <-c.met:
	case <-limit.C:
	case <-ctx.Done():
	}
	f.settle(s, p, c)
}

// settle takes down what the probe has shown.
func (f *Pool) settle(s *server, p *probe, c *Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.ended = time.Now()
	switch {
	case c != nil && c.peer.Load() != nil:
		p.modern, p.conn = true, c
		f.idled(c)
	default:
		p.sure = s.legacyIsUp()
		if c != nil {
			c.end()
		}
	}
	close(p.done)
	f.changed()
}

// legacyIsUp reports whether the server is there on a connection of the legacy era.
func (s *server) legacyIsUp() bool {
	if s.base.isUp() {
		return true
	}
	for _, c := range s.shared {
		if c.isUp() {
			return true
		}
	}
	return false
}

// reconsider looks again at a probe that failed while the server was not there, now that it is on a legacy connection.
// If that one was begun after the probe and came up at once, the server had been there all the time.
func (p *probe) reconsider(s *server, c *Conn) {
	switch {
	case !p.over() || p.modern || p.sure:
	case c.stumbled == nil && !c.since.Before(p.ended):
		p.sure = true
	default:
		s.probe = nil
	}
}
