package upstream

// MCP, "Transports", Streamable HTTP, the client's side: sessions and headers, of 2025-03-26 to 2025-11-25, and without
// sessions (SEP-2575, SEP-2567) and with Mcp-Method and Mcp-Name (SEP-2243) in 2026-07-28.

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// streamable is the link to a server over Streamable HTTP: each message is a POST, whose answer is JSON or a stream
// of events; a legacy server may also have a standing stream for what it wants to say by itself.
type streamable struct {
	poster
	listen  chan sessionID // those whose standing stream is to be opened
	closing sync.Once

	mu     sync.Mutex
	now    sessionID     // guarded by mu
	opened chan struct{} // guarded by mu; closed unless a session that was lost is being replaced

	usual atomic.Pointer[usualHeader]
}

// usualHeader is that of the messages to a legacy server. It is not changed.
type usualHeader struct {
	session, version string
	http.Header
}

// sessionID is what a legacy server knows us by. It may forget it, and is then given another one.
type sessionID struct {
	generation int
	value      string // Mcp-Session-Id; "": the server gave none
}

const byeTimeout = 2 * time.Second

func openStreamable(_ context.Context, s *connection) (link, error) {
	l := &streamable{poster: newPoster(s), listen: make(chan sessionID, 1), opened: make(chan struct{})}
	close(l.opened)
	s.lingers = true
	return l, nil
}

// run keeps the standing stream of the newest session open until the link ends.
func (l *streamable) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.work.run(func() { l.stand(ctx) })
	return l.reason()
}

// sessionID is that of now.
func (l *streamable) sessionID() sessionID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// settled waits until no lost session is being replaced.
func (l *streamable) settled(ctx context.Context) error {
	l.mu.Lock()
	opened := l.opened
	l.mu.Unlock()
	select {
	case <-opened:
		return nil
	default:
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// named notes the id that the server gave the session of this generation.
func (l *streamable) named(generation int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.generation == generation {
		l.now.value = id
	}
}

// send posts a message. For a call it returns with the answer or, where that comes in a stream, when the stream has begun. A
// notification has been taken by the server when send returns; an answer to the server, and a cancel, go their own way.
func (l *streamable) send(ctx context.Context, m outgoing) error {
	switch {
	case m.call != nil:
		m.call.stage.Store(sent)
		if !l.work.enter() {
			return errStopped
		}
		defer l.work.leave()
		l.call(ctx, m)
		return nil
	case m.method == methodCancelled && l.s.era() == era.Modern:
		return nil // the call's response stream has been closed, which says it
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
		l.offerStand(l.sessionID())
	}
	return err
}

// deliver posts a notification or a response and waits until the server has taken it.
func (l *streamable) deliver(ctx context.Context, m outgoing) error {
	return l.post(ctx, l.endpoint.url, l.header(l.sessionID(), m), m.message)
}

// header has what a message needs beside the headers of every request. It is not to be changed.
func (l *streamable) header(now sessionID, m outgoing) http.Header {
	if l.isModern(m) {
		return l.newHeader(now, "", m)
	}
	version := l.s.protocol()
	if m.method == methodInitialize {
		version = "" // it is what is asked for
	}
	h := l.usual.Load()
	if h == nil || h.session != now.value || h.version != version {
		h = &usualHeader{now.value, version, l.newHeader(now, version, m)}
		l.usual.Store(h)
	}
	return h.Header
}

func (l *streamable) isModern(m outgoing) bool {
	return l.s.era() == era.Modern || m.method == methodDiscover
}

func (l *streamable) newHeader(now sessionID, version string, m outgoing) http.Header {
	fields := []headerField{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{"Mcp-Protocol-Version", version},
		{"Mcp-Session-Id", now.value},
	}
	if l.isModern(m) {
		version = m.version
		if version == "" {
			version = era.LatestModern
		}
		fields[2].value = era.EncodeHeader(version)
		fields = append(fields, headerField{"Mcp-Method", era.EncodeHeader(m.method)}, headerField{"Mcp-Name", era.EncodeHeader(m.name)})
	}
	h := l.endpoint.with(fields...)
	if l.s.era() == era.Modern && m.call != nil {
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
		if now := l.sessionID(); now.value != "" {
			ctx, cancel := context.WithTimeout(context.Background(), byeTimeout)
			defer cancel()
			if resp, err := l.endpoint.do(ctx, http.MethodDelete, l.header(now, outgoing{})); err == nil {
				_ = resp.Body.Close()
			}
		}
		l.shut()
	})
}

// errSessionLost is a server that no longer knows its session. What it was asked has not been done.
var errSessionLost = errors.New("it no longer knows its session")

// reopen shakes hands again after a session was lost, once for all who noticed.
func (l *streamable) reopen(ctx context.Context, lost sessionID) error {
	l.mu.Lock()
	if l.now.generation != lost.generation {
		l.mu.Unlock()
		return l.settled(ctx)
	}
	l.now = sessionID{generation: lost.generation + 1}
	opened := make(chan struct{})
	l.opened = opened
	l.mu.Unlock()
	defer close(opened)
	l.s.u.log.InfoContext(ctx, "server forgot its session; opening another")
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), l.s.u.startupTimeout(), errStartTimeout)
	defer cancel()
	if err := l.s.initialize(ctx); err != nil {
		err = l.s.startError(ctx, err)
		l.end(err)
		return err
	}
	l.s.u.opened.note(l.s)
	return nil
}

// isLost reports whether an answer means that the session is gone: by its status or, with servers that use another
// one, by an error that answers no call and speaks of the session.
func isLost(now sessionID, status int, msg *wire.Message) bool {
	switch {
	case now.value == "":
		return false
	case status == http.StatusNotFound:
		return true
	case status == http.StatusBadRequest && msg.Error != nil && msg.ID.IsZero():
		return strings.Contains(strings.ToLower(string(msg.Error)), "session")
	}
	return false
}
