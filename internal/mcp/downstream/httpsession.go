package downstream

// MCP, "Transports", Streamable HTTP: "Session Management".

import (
	"context"
	"net/http"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// httpSession is one client's session over HTTP. It has no goroutine of its own.
type httpSession struct {
	h     *HTTP
	id    string
	scope string
	owner *access.Principal // who opened it; nil: identified by a message, or not at all
	plain bool              // uses HTTP+SSE
	inner Session
	turns chan struct{} // holds a token for each running request

	ctx    context.Context // lifetime of the session, independent of any call
	cancel context.CancelFunc

	order sync.Mutex // held while a notification or a response is delivered

	replayBuffer           // its lock guards the fields below
	out          *stream   // stream for messages outside any request; nil: not opened yet
	proto        string    // the agreed protocol version; "": none yet
	users        int       // number of requests and streams
	calls        int       // number of running requests
	rested       time.Time // since when it has no users
	ended        bool
}

// newSession opens a session in a reserved slot. It cannot be found by its id yet.
func (q *request) newSession(plain bool) *httpSession {
	s := &httpSession{
		h: q.h, id: newID(), scope: q.scope, owner: q.principal, plain: plain,
		turns: make(chan struct{}, q.h.opt.MaxInFlight), users: 1,
	}
	s.inAll = &q.h.held
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if plain {
		s.out = s.open(plainStanding)
	}
	s.inner = q.server.Open(Opening{Principal: q.principal, Link: s})
	q.h.sessions.expect(s)
	return s
}

// Send sends a message on the standing stream. It makes a session a Link.
func (s *httpSession) Send(msg []byte) bool { return s.standing().put(msg) }

// Heard reports whether the client has a stream open outside its requests.
func (s *httpSession) Heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out != nil && len(s.out.readers) > 0
}

// standing returns the stream for messages outside any request.
func (s *httpSession) standing() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		s.out = s.openLocked(standing)
		s.out.done = s.ended
	}
	return s.out
}

// use marks the session as in use until leave; false if it has ended.
func (s *httpSession) use() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.users++
	return true
}

func (s *httpSession) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	s.rested = time.Now()
}

// beginCall waits for a free slot for a request; false if the client or the session is gone.
// endCall releases the slot.
func (s *httpSession) beginCall(client context.Context) bool {
	select {
	case s.turns <- struct{}{}:
	default:
		select {
		case s.turns <- struct{}{}:
		case <-client.Done():
			return false
		case <-s.ctx.Done():
			return false
		}
	}
	s.mu.Lock()
	if !s.ended && s.h.begin(&s.h.calls) {
		s.calls++
		s.mu.Unlock()
		return true
	}
	s.mu.Unlock()
	<-s.turns
	return false
}

func (s *httpSession) endCall() {
	<-s.turns
	s.mu.Lock()
	s.calls--
	s.mu.Unlock()
	if s.h.isStopped() {
		s.closeIfQuiet()
	}
	s.h.calls.Done()
}

// close ends the session. It cancels running requests and releases listeners.
func (s *httpSession) close() { s.closeIf(func() bool { return true }) }

// closeIfQuiet ends the session unless a request is running.
func (s *httpSession) closeIfQuiet() { s.closeIf(func() bool { return s.calls == 0 }) }

// closeIfIdle ends the session if it has been idle for the timeout.
func (s *httpSession) closeIfIdle(now time.Time, timeout time.Duration) {
	s.closeIf(func() bool { return s.users == 0 && now.Sub(s.rested) >= timeout })
}

// rests returns how long the session has been idle.
func (s *httpSession) rests(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users > 0 || s.ended {
		return 0
	}
	return now.Sub(s.rested)
}

func (s *httpSession) closeIf(condition func() bool) {
	s.mu.Lock()
	if s.ended || !condition() {
		s.mu.Unlock()
		return
	}
	s.ended = true
	s.mu.Unlock()
	s.cancel() // before it is removed: an ended session is not added again
	s.h.sessions.remove(s)
	s.replayBuffer.close()
	s.inner.Close()
}

// agree records the protocol version of the answer to initialize.
func (s *httpSession) agree(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proto = version
}

// version returns the agreed protocol version.
func (s *httpSession) version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proto
}

// primes reports whether clients of a revision understand priming events.
func primes(version string) bool { return version >= "2025-11-25" && era.IsLegacy(version) }

// batches reports whether a revision has batches.
func batches(version string) bool { return version == "2025-03-26" }

// take passes a notification or a response to the session, one at a time.
func (s *httpSession) take(ctx context.Context, msg *wire.Message, x Exchange) {
	s.order.Lock()
	defer s.order.Unlock()
	takeIn(ctx, s.h.log, s.inner, msg, x)
}

// callContext ends with the session and has the values of the HTTP request.
type callContext struct {
	context.Context
	values context.Context
}

func (s *httpSession) context(r *http.Request) context.Context {
	return callContext{s.ctx, r.Context()}
}

// Value asks the session's context first, because its cancellation counts.
func (c callContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.values.Value(key)
}
