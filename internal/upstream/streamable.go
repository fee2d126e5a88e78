package upstream

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"secateur/internal/rpc"
)

// streamable is the link to a server over Streamable HTTP: each message is a POST, whose answer is JSON or a stream
// of events; a legacy server may also have a standing stream for what it wants to say by itself.
type streamable struct {
	s        *session
	endpoint *endpoint
	work     group
	posts    chan struct{} // a token for each message on its way that nobody waits for
	listen   chan terms    // sessions whose standing stream is to be opened
	cancel   context.CancelFunc
	ended    chan struct{}
	closing  sync.Once

	mu     sync.Mutex
	now    terms         // guarded by mu
	opened chan struct{} // guarded by mu; closed when the handshake of the HTTP session is over
	why    error         // guarded by mu; why the link has ended
}

// terms are what the server and we agreed on. A legacy server may have forgotten its session and get another one.
type terms struct {
	generation int
	session    string // Mcp-Session-Id
	version    string // "" before the handshake
	era        Era
}

const (
	maxPosts    = 256
	postTimeout = 10 * time.Second
	byeTimeout  = 2 * time.Second
)

func openStreamable(_ context.Context, s *session) (link, error) {
	address, _ := url.Parse(s.u.opt.Settings.URL) // Validate has parsed it
	return &streamable{
		s: s, endpoint: newEndpoint(s.u, address), posts: make(chan struct{}, maxPosts), listen: make(chan terms, 1),
		ended: make(chan struct{}), opened: make(chan struct{}), now: terms{generation: 1},
	}, nil
}

func (l *streamable) start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	l.work.run(func() { l.stand(ctx) })
}

func (l *streamable) done() <-chan struct{}       { return l.ended }
func (l *streamable) pid() int                    { return 0 }
func (l *streamable) lastWords() string           { return "" }
func (l *streamable) advice() string              { return "" }
func (l *streamable) cancelByNotice(era Era) bool { return era == Legacy }

func (l *streamable) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// end says that the link is of no more use.
func (l *streamable) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil {
		l.why = why
		close(l.ended)
	}
}

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
		return l.sendAway(ctx, m)
	}
	if m.method != methodInitialized {
		if err := l.settled(ctx); err != nil {
			return err
		}
	}
	wait, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	err := l.deliver(wait, m)
	if m.method != methodInitialized {
		return err
	}
	if failed, ok := errors.AsType[*CallError](err); ok && failed.Kind == Invalid {
		l.s.u.log.DebugContext(ctx, "server does not care to be initialized", "err", err)
		err = nil // and what counts is how it takes the calls
	}
	if err == nil {
		l.settle()
		l.offerStand(l.terms())
	}
	return err
}

// sendAway posts a message that nobody waits for.
func (l *streamable) sendAway(ctx context.Context, m outgoing) error {
	select {
	case l.posts <- struct{}{}:
	default:
		return errors.New("too many messages are on their way")
	}
	ok := l.work.run(func() {
		defer func() { <-l.posts }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), postTimeout)
		defer cancel()
		if err := l.deliver(ctx, m); err != nil {
			l.s.u.log.DebugContext(ctx, "message not taken", "method", m.method, "err", err)
		}
	})
	if !ok {
		<-l.posts
		return errStopped
	}
	return nil
}

// deliver posts a notification or a response and waits until the server has taken it.
func (l *streamable) deliver(ctx context.Context, m outgoing) error {
	resp, err := l.endpoint.post(ctx, l.header(l.terms(), m), &sentBody{data: m.message})
	if err != nil {
		return l.s.u.exchangeError(err, l.endpoint.host)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := readBody(resp.Body, -1, 64<<10) // of interest only for what it says about a refusal
	defer putBuffer(body)
	if resp.StatusCode >= 300 {
		return l.endpoint.statusError(resp, body)
	}
	return nil
}

// header has what a message needs beside the headers of every request.
func (l *streamable) header(t terms, m outgoing) http.Header {
	fields := []headerField{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{"Mcp-Protocol-Version", t.version},
		{"Mcp-Session-Id", t.session},
	}
	if t.era == Modern || m.method == methodDiscover {
		version := m.version
		if version == "" {
			version = latestModern
		}
		fields[2].value = headerText(version)
		fields = append(fields, headerField{"Mcp-Method", headerText(m.method)}, headerField{"Mcp-Name", headerText(m.name)})
	}
	return l.endpoint.with(fields...)
}

// headerText writes a text as a header's value: as it is where that is safe, else in base64 with marks around it.
func headerText(s string) string {
	const before, after = "=?base64?", "?="
	marked := strings.HasPrefix(s, before) && strings.HasSuffix(s, after)
	odd := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if marked || odd || s != strings.TrimSpace(s) {
		return before + base64.StdEncoding.EncodeToString([]byte(s)) + after
	}
	return s
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
		l.endpoint.close()
		l.work.close()
		l.endpoint.rt.CloseIdleConnections()
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
