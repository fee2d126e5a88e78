package upstream

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/era"
	"secateur/internal/rpc"
)

// streamable is the link to a server over Streamable HTTP: each message is a POST, whose answer is JSON or a stream
// of events; a legacy server may also have a standing stream for what it wants to say by itself.
type streamable struct {
	poster
	listen  chan terms // sessions whose standing stream is to be opened
	cancel  context.CancelFunc
	closing sync.Once

	mu     sync.Mutex
	now    terms         // guarded by mu
	opened chan struct{} // guarded by mu; closed when the handshake of the HTTP session is over

	usual atomic.Pointer[usualHeader]
}

// usualHeader is that of the messages to a legacy server. It is not changed.
type usualHeader struct {
	terms
	http.Header
}

// terms are what the server and we agreed on. A legacy server may have forgotten its session and get another one.
type terms struct {
	generation int
	session    string // Mcp-Session-Id
	version    string // "" before the handshake
	era        Era
}

const byeTimeout = 2 * time.Second

func openStreamable(_ context.Context, s *session) (link, error) {
	return &streamable{
		poster: newPoster(s), listen: make(chan terms, 1), opened: make(chan struct{}), now: terms{generation: 1},
	}, nil
}

func (l *streamable) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	l.work.run(func() { l.stand(ctx) })
}

func (l *streamable) cancelByNotice(e Era) bool { return e == Legacy }

// terms are those of now.
func (l *streamable) terms() terms {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// settled waits until no handshake is under way.
func (l *streamable) settled(ctx context.Context) error {
	l.mu.Lock()
	opened := l.opened
	l.mu.Unlock()
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isSettled is settled without waiting.
func (l *streamable) isSettled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.opened:
		return true
	default:
		return false
	}
}

// change replaces the terms of one generation.
func (l *streamable) change(generation int, change func(t *terms)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.generation == generation {
		change(&l.now)
	}
}

func (l *streamable) agreed(p *Peer) {
	l.change(l.terms().generation, func(t *terms) { t.version, t.era = p.Protocol, p.Era })
	if p.Era == Modern {
		l.settle()
	}
}

// settle lets callers in after a handshake.
func (l *streamable) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.opened:
	default:
		close(l.opened)
	}
}

// send posts a message. For a call, a goroutine then waits for what comes back. A notification has been taken by the
// server when send returns; an answer to the server, and a cancel, go their own way.
func (l *streamable) send(ctx context.Context, m outgoing) error {
	switch {
	case m.call != nil:
		m.call.stage.Store(sent)
		if !l.work.run(func() { l.exchange(ctx, m) }) {
			return errStopped
		}
		return nil
	case m.patience == 0:
		return l.away(ctx, m, l.deliver)
	}
	if m.method != methodInitialized {
		if err := l.settled(ctx); err != nil {
			return err
		}
	}
	err := l.within(ctx, m, l.deliver)
	if m.method == methodInitialized && err == nil {
		l.settle()
		l.offerStand(l.terms())
	}
	return err
}

// deliver posts a notification or a response and waits until the server has taken it.
func (l *streamable) deliver(ctx context.Context, m outgoing) error {
	return l.post(ctx, l.endpoint.url, l.header(l.terms(), m), m.message)
}

// header has what a message needs beside the headers of every request. It is not to be changed.
func (l *streamable) header(t terms, m outgoing) http.Header {
	if t.era == Modern || m.method == methodDiscover {
		return l.newHeader(t, m)
	}
	h := l.usual.Load()
	if h == nil || h.terms != t {
		h = &usualHeader{t, l.newHeader(t, m)}
		l.usual.Store(h)
	}
	return h.Header
}

func (l *streamable) newHeader(t terms, m outgoing) http.Header {
	fields := []headerField{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{"Mcp-Protocol-Version", t.version},
		{"Mcp-Session-Id", t.session},
	}
	if t.era == Modern || m.method == methodDiscover {
		version := m.version
		if version == "" {
			version = era.LatestModern
		}
		fields[2].value = era.EncodeHeader(version)
		fields = append(fields, headerField{"Mcp-Method", era.EncodeHeader(m.method)}, headerField{"Mcp-Name", era.EncodeHeader(m.name)})
	}
	h := l.endpoint.with(fields...)
	if t.era == Modern && m.call != nil {
		addHeader(h, m.call.header)
	}
	return h
}

// addHeader adds what a caller wants to be sent, unless it is something that is not the caller's to say.
func addHeader(h http.Header, more []Header) {
	for _, f := range more {
		name := http.CanonicalHeaderKey(f.Name)
		if _, taken := h[name]; !taken && isHeaderName(name) && !slices.Contains(ownHeaders, strings.ToLower(name)) {
			h[name] = []string{era.EncodeHeader(f.Value)}
		}
	}
}

// close says good-bye to a server that keeps a session, and ends all connections.
func (l *streamable) close() {
	l.closing.Do(func() {
		l.end(errStopped)
		l.cancel()
		if t := l.terms(); t.session != "" {
			ctx, cancel := context.WithTimeout(context.Background(), byeTimeout)
			defer cancel()
			if resp, err := l.endpoint.do(ctx, http.MethodDelete, l.header(t, outgoing{})); err == nil {
				_ = resp.Body.Close()
			}
		}
		l.shut()
	})
}

// errSessionLost is a server that no longer knows its session. What it was asked has not been done.
var errSessionLost = errors.New("it no longer knows its session")

// reopen shakes hands again after a session was lost, once for all who noticed.
func (l *streamable) reopen(ctx context.Context, lost terms) error {
	l.mu.Lock()
	if l.now.generation != lost.generation {
		l.mu.Unlock()
		return l.settled(ctx)
	}
	l.now = terms{generation: lost.generation + 1}
	l.opened = make(chan struct{})
	l.mu.Unlock()
	l.s.u.log.InfoContext(ctx, "server forgot its session; opening another")
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), l.s.u.startupTimeout(), errStartTimeout)
	defer cancel()
	peer, err := l.s.initialize(ctx)
	if err != nil {
		err = l.s.startError(ctx, err)
		l.end(err)
		l.settle()
		return err
	}
	l.s.peer.Store(peer)
	l.s.u.opened.note(l.s)
	return nil
}

// isLost reports whether an answer means that the session is gone: by its status or, with servers that use another
// one, by an error that answers no call and speaks of the session.
func isLost(t terms, status int, msg *rpc.Message) bool {
	switch {
	case t.session == "":
		return false
	case status == http.StatusNotFound:
		return true
	case status == http.StatusBadRequest && msg.Error != nil && msg.ID.IsZero():
		return strings.Contains(strings.ToLower(string(msg.Error)), "session")
	}
	return false
}
