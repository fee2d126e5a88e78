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

// session is one client's conversation over HTTP. It has no goroutine of its own.
type httpSession struct {
	h     *HTTP
	id    string
	scope string
	owner *access.Principal // who opened it; nil: that is told in a message, or not at all
	plain bool              // over HTTP+SSE
	inner Session
	turns chan struct{} // holds a token for each request that runs

	ctx    context.Context // the life of the session, which is no call's
	cancel context.CancelFunc

	order sync.Mutex // held while a notification or a response goes in

	replayBuffer           // its lock guards what follows
	out          *stream   // what is said outside any request; nil: nothing yet
	proto        string    // what was agreed on; "" before
	users        int       // requests and streams
	calls        int       // requests that run
	rested       time.Time // since when there are no users
	ended        bool
}

// newSession opens a session in a place that was reserved. Nobody can find it yet.
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

// Send is what makes a session a Link.
func (s *httpSession) Send(msg []byte) bool { return s.standing().put(msg) }

// Heard reports whether the client has a stream open outside its requests.
func (s *httpSession) Heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out != nil && len(s.out.readers) > 0
}

// standing is the stream of what is said outside any request.
func (s *httpSession) standing() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		s.out = s.openLocked(standing)
		s.out.done = s.ended
	}
	return s.out
}

// use marks the session as in use until leave; false: it has ended.
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

// beginCall waits for the turn of a request, as long as its client does; false: the client or the session is gone. It is ended by
// endCall.
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

// close ends the session: what runs is cancelled, what listens is let go.
func (s *httpSession) close() { s.closeIf(func() bool { return true }) }

// closeIfQuiet ends the session unless a request is running.
func (s *httpSession) closeIfQuiet() { s.closeIf(func() bool { return s.calls == 0 }) }

// closeIfIdle ends the session if nobody has used it for long.
func (s *httpSession) closeIfIdle(now time.Time, timeout time.Duration) {
	s.closeIf(func() bool { return s.users == 0 && now.Sub(s.rested) >= timeout })
}

// rests is how long nobody has used the session.
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
	s.cancel() // before it is removed: an ended session is not added any more
	s.h.sessions.remove(s)
	s.replayBuffer.close()
	s.inner.Close()
}

// agree notes the revision that an initialize was answered with.
func (s *httpSession) agree(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proto = version
}

// version is what was agreed on.
func (s *httpSession) version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proto
}

// primes tells whether the clients of a revision know what a priming event is.
func primes(version string) bool { return version >= "2025-11-25" && era.IsLegacy(version) }

// batches tells whether a revision has batches.
func batches(version string) bool { return version == "2025-03-26" }

// take gives a notification or a response to the session, one at a time.
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

// Value asks the session's context first: it is the one whose cancellation counts.
func (c callContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.values.Value(key)
}
