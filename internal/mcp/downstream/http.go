package downstream

// MCP, "Transports", Streamable HTTP: the server's side, all revisions. The guard handles "Security
// Warning".

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

// HTTPOptions configure an HTTP. Server, Known, Check and MaxMessageBytes are required.
type HTTPOptions struct {
	// Server returns the server for a name from the path ("": none given), or nil if the name is
	// unknown. An error concerns the query of the address.
	Server func(name, query string) (Server, error)
	// Has reports whether a caller has a server of that name; nil: everyone has each. If the caller
	// is not known yet, the server's sessions decide.
	Has func(p *access.Principal, name string) bool
	// Known lists the names that a caller may know, for the answer to an unknown name.
	Known func(p *access.Principal) []string
	// IsDisabled reports whether a name belongs to a disabled server that the caller may know; nil:
	// none.
	IsDisabled func(p *access.Principal, name string) bool
	// Check identifies the sender of a request. A refused sender is rejected, with one exception.
	// If it has sent no credentials, or only its connection's certificate, it reaches the session
	// without a principal. The message itself may then identify the sender.
	Check func(*http.Request) (*access.Principal, access.Verdict)

	// Refused is called for a request refused for lack of credentials before a session was asked;
	// nil: not called.
	Refused func(r *http.Request, v access.Verdict)

	// Hold returns the context of a stream whose session was authenticated by its messages. The
	// context ends when that token does; nil: never. The caller calls release when the stream is
	// over.
	Hold func(ctx context.Context, p *access.Principal) (_ context.Context, release func())
	// IsGood reports whether the token in a session's message is still valid; nil: always.
	IsGood func(p *access.Principal) bool

	// TokenInHeader requires a token in a header. Otherwise the token may be in the message, which
	// is read to find it.
	TokenInHeader bool

	Openings        *limit.Local // rate limit of new sessions per principal; nil: none
	MaxMessageBytes int64        // a larger request is refused
	// a session without requests, streams and running calls ends after this; 0: 30 min
	IdleTimeout time.Duration
	MaxSessions int           // 0: 16384
	MaxInFlight int           // concurrent requests per session, others wait; 0: 256
	KeepAlive   time.Duration // maximum silence on a stream; 0: 15 s

	Metrics prometheus.Registerer // nil: no metrics
	Log     *slog.Logger          // nil discards
}

// HTTP serves MCP clients at /mcp and /mcp/{server}.
type HTTP struct {
	opt      HTTPOptions
	log      *slog.Logger
	metrics  metrics
	sessions registry
	held     atomic.Int64 // bytes in the replay buffers of all sessions

	maxMessage atomic.Int64 // maximum bytes of a request

	strangers chan struct{} // holds a token for each message being read to identify its sender

	// The responses that still wait for their answer or their first event:
	unprimed overdue.Queue[*postResponse] // to clients that can resume a stream
	quiet    overdue.Queue[*postResponse] // to other clients

	mu      sync.Mutex
	stopped bool // guarded by mu; nothing new begins
	// guarded by mu; requests without a session; true: it only listens
	lone     map[*postResponse]bool
	handlers sync.WaitGroup // incremented with mu held and not stopped, like calls
	calls    sync.WaitGroup
}

// NewHTTP returns an HTTP.
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
		max: opt.MaxSessions, all: map[string]*httpSession{}, opening: map[*httpSession]struct{}{},
	}
	h.SetIdleTimeout(opt.IdleTimeout)
	h.metrics = newMetrics(opt.Metrics, h.sessions.count)
	return h
}

// SetMaxMessageBytes changes the maximum size of future requests.
func (h *HTTP) SetMaxMessageBytes(n int64) { h.maxMessage.Store(n) }

// SetIdleTimeout changes how long idle sessions are kept, including open ones.
func (h *HTTP) SetIdleTimeout(d time.Duration) { h.sessions.setIdle(d) }

func setDefault[T int | time.Duration](v *T, standard T) {
	if *v <= 0 {
		*v = standard
	}
}

// request is one HTTP request and its sender.
type request struct {
	h         *HTTP
	w         client
	r         *http.Request
	server    Server
	scope     string            // name of the server
	principal *access.Principal // nil: the request does not identify its sender
	verdict   access.Verdict
	// unidentified sender: no token in a header or the message, and no session to decide
	stranger bool
	version  string // protocol version from the header; "": none
	accept   accepts
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
		q.post() //nolint:contextcheck // its calls have the session's context, not the request's
	case http.MethodGet:
		q.get() //nolint:contextcheck // not only the request ends its stream
	case http.MethodDelete:
		q.delete()
	default:
		q.wrongMethod("POST, GET, DELETE", "send messages with POST, listen with GET, end a session with DELETE")
	}
}

// begin registers work that Close waits for; false if closing has begun.
func (h *HTTP) begin(work *sync.WaitGroup) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	work.Add(1)
	return true
}

// beginLone registers a request without a session; false if closing has begun.
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

// isStopped reports whether Close has been called.
func (h *HTTP) isStopped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped
}

// cancelLone cancels the requests without a session: all, or those that only listen.
func (h *HTTP) cancelLone(all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x, listens := range h.lone {
		if all || listens {
			x.cancel()
		}
	}
}

// Sessions returns the number of open sessions.
func (h *HTTP) Sessions() int { return h.sessions.count() }

// Close ends all sessions and streams. Listeners and sessions without running requests end
// immediately. Running requests have until ctx is done, then they are cancelled. Close returns when
// everything has ended, or shortly after ctx is done.
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

// lastGrace is how long cancelled requests may take to return.
const lastGrace = time.Second

// wait waits for a group and reports whether it finished before ctx.
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
