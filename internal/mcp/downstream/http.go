package downstream

// MCP, "Transports", Streamable HTTP: the server's side, all revisions; "Security Warning" is the guard's.

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/overdue"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// HTTPOptions make an HTTP. Server, Known, Check and MaxMessageBytes are needed.
type HTTPOptions struct {
	// Server is the one of a name, as the path gives it, "" where it gives none; nil for a name that is not known. The
	// query is what the address says besides, and an error is about that.
	Server func(name, query string) (Server, error)
	// Has reports whether there is a server of that name for a caller; nil: each that Server gives. Of who is not known yet, the Server's
	// sessions find it out.
	Has func(p *access.Principal, name string) bool
	// Known lists the names that a caller may know, for the answer to one that is not among them.
	Known func(p *access.Principal) []string
	// IsDisabled reports whether a name is that of a server which is switched off, and of which the caller may know; nil: none is.
	IsDisabled func(p *access.Principal, name string) bool
	// Check says who sent a request. Who is refused is turned away, but for those who have shown nothing, or nothing but their connection's
	// certificate: they are let through to the session without a principal, where the message itself may say who sent it.
	Check func(*http.Request) (*access.Principal, access.Verdict)

	// Refused is told of a request that is refused because nothing says who sent it, where no session was asked; nil: nobody wants to know.
	Refused func(r *http.Request, v access.Verdict)

	// Hold gives the context of a stream whose session's messages have told who its client is, which ends with that token; nil: it does
	// not end. The caller calls release when the stream is over.
	Hold func(ctx context.Context, p *access.Principal) (_ context.Context, release func())
	// IsGood reports whether what a session's message has shown to say who its client is would still be accepted; nil: it always is.
	IsGood func(p *access.Principal) bool

	// TokenInHeader refuses who shows no token in a header. Elsewhere it may stand in the message, which is read for it.
	TokenInHeader bool

	Openings        *limit.Local  // of sessions, by principal; nil: none
	MaxMessageBytes int64         // a larger request is refused
	IdleTimeout     time.Duration // a session without request, stream and running call ends after this; 0: 30 min
	MaxSessions     int           // 0: 16384
	MaxInFlight     int           // requests of one session that run at once, the next wait; 0: 256
	KeepAlive       time.Duration // how long a stream may be silent; 0: 15 s

	Metrics prometheus.Registerer // nil: not counted
	Log     *slog.Logger          // nil discards
}

// HTTP serves MCP clients at /mcp and /mcp/{server}.
type HTTP struct {
	opt      HTTPOptions
	log      *slog.Logger
	metrics  metrics
	sessions registry
	held     atomic.Int64 // bytes on the shelves of all sessions

	maxMessage atomic.Int64 // bytes of a request

	strangers chan struct{} // holds a token for each message that is being read to find out who sent it

	// The responses that still wait for their answer, or their first event:
	unprimed overdue.Queue[*postResponse] // those to clients that can come back to a stream
	quiet    overdue.Queue[*postResponse] // the other ones

	mu       sync.Mutex
	stopped  bool                   // guarded by mu; nothing new begins
	lone     map[*postResponse]bool // guarded by mu; requests without a session, and whether they only listen
	handlers sync.WaitGroup         // added to with mu held and not stopped, like calls
	calls    sync.WaitGroup
}

// NewHTTP makes an HTTP.
func NewHTTP(opt HTTPOptions) *HTTP {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	setDefault(&opt.IdleTimeout, 30*time.Minute)
	setDefault(&opt.MaxSessions, 16384)
	setDefault(&opt.MaxInFlight, 256)
	setDefault(&opt.KeepAlive, 15*time.Second)
	h := &HTTP{opt: opt, log: opt.Log, lone: map[*postResponse]bool{}, strangers: make(chan struct{}, maxStrangers)}
	h.unprimed.After, h.quiet.After = min(opt.KeepAlive, primeAfter), opt.KeepAlive
	h.unprimed.Late, h.quiet.Late = (*postResponse).breakSilence, (*postResponse).breakSilence
	h.SetMaxMessageBytes(opt.MaxMessageBytes)
	h.sessions = registry{
		max: opt.MaxSessions, idle: opt.IdleTimeout, all: map[string]*httpSession{}, opening: map[*httpSession]struct{}{},
	}
	h.metrics = newMetrics(opt.Metrics, h.sessions.count)
	return h
}

// SetMaxMessageBytes has requests from now on refused that are larger.
func (h *HTTP) SetMaxMessageBytes(n int64) { h.maxMessage.Store(n) }

func setDefault[T int | time.Duration](v *T, standard T) {
	if *v <= 0 {
		*v = standard
	}
}

// request is one HTTP request and who sent it.
type request struct {
	h         *HTTP
	w         client
	r         *http.Request
	server    Server
	scope     string            // the name of server
	principal *access.Principal // nil: nothing that came with it says who sent it
	verdict   access.Verdict
	stranger  bool   // nothing says who sent it: no token, none in the message, and no session that would decide
	version   string // of the protocol, as the header tells; "" if it does not
	accept    accepts
}

// ServeHTTP answers one request of a client.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{h: h, w: newClient(w), r: r, scope: r.PathValue("server"), version: r.Header.Get("Mcp-Protocol-Version"), accept: readAccept(r.Header)}
	q.principal, q.verdict = h.opt.Check(r)
	var badQuery error
	q.server, badQuery = h.opt.Server(q.scope, r.URL.RawQuery)
	switch {
	case q.verdict.Kind == access.Forbidden, q.verdict.Kind == access.Unauthorized && (q.server == nil || !q.verdict.MessageMayTell()):
		rpchttp.Refuse(w, r, q.verdict)
		return
	case q.verdict.Kind == access.Unauthorized:
		q.principal, q.stranger = nil, true
	case h.opt.Has != nil && !h.opt.Has(q.principal, q.scope):
		q.server = nil
	}
	if badQuery != nil {
		q.refuse(wire.ID{}, rpchttp.InvalidRequest(http.StatusBadRequest, "the address: "+badQuery.Error()))
		return
	}
	if !h.begin(&h.handlers) {
		q.refuse(wire.ID{}, stopping())
		return
	}
	defer h.handlers.Done()
	switch r.Method {
	case http.MethodPost:
		q.post() //nolint:contextcheck // its calls have the context of their session, not of the request
	case http.MethodGet:
		q.get() //nolint:contextcheck // what ends its stream is not the request alone
	case http.MethodDelete:
		q.delete()
	default:
		q.wrongMethod("POST, GET, DELETE", "send messages with POST, listen with GET, end a session with DELETE")
	}
}

// begin notes something that Close waits for; false: it is too late for that.
func (h *HTTP) begin(work *sync.WaitGroup) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	work.Add(1)
	return true
}

// beginLone notes a request without a session; false: it is too late.
func (h *HTTP) beginLone(x *postResponse, listens bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	h.calls.Add(1)
	h.lone[x] = listens
	return true
}

func (h *HTTP) endLone(x *postResponse) {
	h.mu.Lock()
	delete(h.lone, x)
	h.mu.Unlock()
	h.calls.Done()
}

// isStopped tells whether Close has been called.
func (h *HTTP) isStopped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped
}

// cancelLone cancels the requests without a session, or those of them that only listen.
func (h *HTTP) cancelLone(all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x, listens := range h.lone {
		if all || listens {
			x.cancel()
		}
	}
}

// Sessions is how many are open.
func (h *HTTP) Sessions() int { return h.sessions.count() }

// Close ends all sessions and streams. What only listens ends at once, and so does every session that has no request
// running; those that run have until ctx is done, then they are cancelled. It returns when everything has ended, or
// shortly after ctx is done.
func (h *HTTP) Close(ctx context.Context) error {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.cancelLone(false)
	for _, s := range h.sessions.list() {
		s.closeIfQuiet()
	}
	wait(ctx, &h.calls)
	h.cancelLone(true)
	for _, s := range h.sessions.list() {
		s.close()
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastGrace)
	defer cancel()
	if !wait(late, &h.calls) || !wait(late, &h.handlers) {
		return context.Cause(late)
	}
	return nil
}

// lastGrace is how long cancelled requests may take to notice.
const lastGrace = time.Second

// wait waits for a group and reports whether it was done before ctx.
func wait(ctx context.Context, work *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
