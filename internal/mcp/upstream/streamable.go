package upstream

// MCP, "Transports", Streamable HTTP, the client's side. It has sessions and their headers in
// 2025-03-26 to 2025-11-25. In 2026-07-28 it has no sessions (SEP-2575, SEP-2567), but Mcp-Method
// and Mcp-Name (SEP-2243).

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

// streamable is the link to a server over Streamable HTTP. Each message is a POST, answered with
// JSON or an event stream. A legacy server may also have a standing GET stream for its own requests
// and notifications.
type streamable struct {
	poster
	listen  chan sessionID // sessions whose standing stream should be opened
	closing sync.Once

	mu     sync.Mutex
	now    sessionID     // guarded by mu
	opened chan struct{} // guarded by mu; open only while a lost session is being replaced

	usual atomic.Pointer[usualHeader]
}

// usualHeader is the header of messages to a legacy server. It is immutable.
type usualHeader struct {
	session, version string
	http.Header
}

// sessionID identifies our session with a legacy server. If the server loses it, we open another.
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

// sessionID returns the current session.
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

// named records the id that the server gave the session of this generation.
func (l *streamable) named(generation int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.generation == generation {
		l.now.value = id
	}
}

// send posts a message. For a call it returns with the answer or, if that is a stream, when the
// stream has begun. For a notification it returns when the server has accepted it. Answers to the
// server and cancellations are sent in the background.
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
		return nil // closing the call's response stream has already cancelled it
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

// deliver posts a notification or a response and waits until the server has accepted it.
func (l *streamable) deliver(ctx context.Context, m outgoing) error {
	return l.post(ctx, l.endpoint.url, l.header(l.sessionID(), m), m.message)
}

// header returns all headers for a message. The result must not be modified.
func (l *streamable) header(now sessionID, m outgoing) http.Header {
	if l.isModern(m) {
		return l.newHeader(now, "", m)
	}
	version := l.s.protocol()
	if m.method == methodInitialize {
		version = "" // it is being negotiated
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

// addHeader adds the caller's headers, except those that a caller may not set.
func addHeader(h http.Header, more []Header) {
	for _, f := range more {
		name := http.CanonicalHeaderKey(f.Name)
		if _, taken := h[name]; !taken && isHeaderName(name) && !slices.Contains(ownHeaders, strings.ToLower(name)) {
			h[name] = []string{era.EncodeHeader(f.Value)}
		}
	}
}

// close ends the server's session, if any, and all connections.
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

// errSessionLost means that the server no longer knows its session. It has not processed the
// request.
var errSessionLost = errors.New("it no longer knows its session")

// reopen repeats the handshake after a session was lost, once for all calls that noticed.
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

// isLost reports whether a response means that the session is gone. The status says so, or, for
// servers that use another status, an error about the session without an id.
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
