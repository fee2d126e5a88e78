package aggregate

import (
	"bytes"
	"context"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/wire"
)

const (
	noticeWait = 2 * time.Second // for a server to take a notification
	maxNotices = 64              // of a client that are on their way; more are dropped
)

// notificationQueue is a client's notifications on their way to the servers: delivered in the order they came in, by
// background jobs, so that a cancel behind them does not wait.
type notificationQueue struct {
	mu    sync.Mutex
	last  chan struct{} // guarded by mu; closed when the newest is delivered; nil: there was none
	count int           // guarded by mu
}

// deliver has a notification delivered after those before it; false if too many are on their way, or the door closes.
func (n *notificationQueue) deliver(jobs *background, work func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.count >= maxNotices {
		return false
	}
	before, done := n.last, make(chan struct{})
	started := jobs.run(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		work()
		n.mu.Lock()
		n.count--
		n.mu.Unlock()
	})
	if started {
		n.last = done
		n.count++
	}
	return started
}

// broadcast gives a notification of the client's to every server.
func (s *clientConn) broadcast(ctx context.Context, n *wire.Message) {
	own, bad := wire.ParseRequest(bytes.Clone(n.Raw), wire.MaxRequestDepth) // the client's bytes are not ours to keep
	if bad != nil {
		return // it was parsed before
	}
	c, leave := s.sender(n)
	if bare := era.WithoutMeta(own.Params); !same(bare, own.Params) {
		own = own.WithParams(bare)
	}
	delivered := s.notifications.deliver(s.jobs, func() {
		defer leave()
		ctx, end := s.jobs.detach(ctx)
		defer end()
		ctx, cancel := context.WithTimeout(ctx, noticeWait)
		defer cancel()
		var all sync.WaitGroup
		for _, id := range s.servers() {
			if mine, ok := s.mayTell(ctx, c, id, &own); ok {
				all.Go(func() { s.notify(ctx, c, id, mine) })
			}
		}
		all.Wait()
	})
	if !delivered {
		leave()
	}
}

// mayTell is a notification as a server may have it from the caller: what it names is decided on as if it were a request, since some servers take
// one without an id for a call.
func (s *clientConn) mayTell(ctx context.Context, c *client, id string, n *wire.Message) (*wire.Message, bool) {
	control, p := s.now.Load().Admission, access.FromContext(ctx)
	if admission.IsAboutConnection(n.Method) || !control.Sees(p, access.DoorMCP, id) {
		return nil, false
	}
	targets := admission.TargetsOf(access.DoorMCP, id, n)
	if targets == nil {
		return control.RedactSaid(p, access.DoorMCP, id, n), true
	}
	permit, no := control.AskListed(ctx, p, n.Method, c.member, targets...)
	if no != nil {
		return nil, false
	}
	defer permit.Done(len(n.Raw), 0)
	return permit.RedactSaid(n), true
}

// notify gives a notification to one server.
func (s *clientConn) notify(ctx context.Context, c *client, id string, n *wire.Message) {
	conn, release, err := c.member.Hold(ctx, id)
	if err == nil {
		err = conn.Notify(ctx, n)
		release()
	}
	if err != nil {
		s.log.DebugContext(ctx, "notification not delivered", "server", id, "method", n.Method, "err", err)
	}
}

// sender is the client that a notification comes from.
func (s *clientConn) sender(n *wire.Message) (c *client, leave func()) {
	if s.link != nil && !era.ReadMeta(n.Params).HasVersion {
		return s.legacyClient(), func() {}
	}
	m := s.opt.Pool.Join(pool.Client{Era: era.Modern, Capabilities: []byte("{}"), Only: s.only}, nil)
	return &client{era: era.Modern, member: m}, m.Leave
}

// progressOf gives a server the progress that the client makes with its question.
func (s *clientConn) progressOf(ctx context.Context, n *wire.Message) {
	q := s.pending.byToken(wire.IDOf(n.ProgressToken()))
	if q == nil || q.conn == nil || q.token.IsZero() {
		return
	}
	n = s.now.Load().Admission.RedactSaid(access.FromContext(ctx), access.DoorMCP, q.conn.ID(), n)
	m, bad := wire.ParseRequest(n.AppendRewritten(nil, wire.Rewrite{ProgressToken: q.token}), wire.MaxRequestDepth)
	if bad != nil {
		return
	}
	s.notifications.deliver(s.jobs, func() {
		ctx, end := s.jobs.detach(ctx)
		defer end()
		ctx, cancel := context.WithTimeout(ctx, noticeWait)
		defer cancel()
		if err := q.conn.Notify(ctx, &m); err != nil {
			s.log.DebugContext(ctx, "progress not delivered", "err", err)
		}
	})
}
