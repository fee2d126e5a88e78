package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/child"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// Handler serves messages in this process. It must be safe for concurrent use.
type Handler interface {
	// Serve answers a request with a complete JSON-RPC response, and a notification with nil. It
	// should return soon after ctx is done.
	Serve(ctx context.Context, msg *wire.Message) []byte
}

// Tokens provides the access token for a server. Its methods are safe for concurrent use.
type Tokens interface {
	Token(ctx context.Context) (string, error) // "": none needed, as far as known
	Refused(token string)                      // the server refused it
}

// Options are the parts of an Upstream. Zero values mean the defaults named here.
type Options struct {
	Settings Settings
	Log      *slog.Logger // nil discards

	Kill <-chan struct{} // closed to end children immediately; nil: never
	// gets each line of a child's standard error, secrets masked; nil: discarded
	Stderr func(line string)
	// base of every child's environment; see child.BaseEnv
	BaseEnv   []string
	Sandboxes Sandboxes
	Proxy     func(*http.Request) (*url.URL, error) // selects the HTTP proxy; nil: none
	Local     Handler                               // the server that Settings.Builtin names

	// Incoming gets the server's requests and notifications that no call's Related handler takes.
	// Nil: requests are answered "method not found", notifications are dropped. Pings are always
	// answered here.
	Incoming Handler

	// Announced is called with the method of each list_changed notification, before anything else
	// handles it. It is called in order with answers, for every stream, and none is dropped. It
	// must not block. Nil: not called.
	Announced func(method string)

	// Refuses reports whether requests of a method are refused immediately, for all callers; nil:
	// none.
	Refuses func(method string) bool

	// Capabilities are the client capabilities for a legacy server's initialize, a raw JSON object;
	// nil: {}. A modern server gets them with each request, or {} if the request has none.
	Capabilities []byte

	// Opened is called after each handshake: after a start, a restart, or the loss of a session. It
	// runs in its own goroutine, never concurrently, and may take time and make calls. Meanwhile,
	// handshakes are merged; Opened gets the newest one when it returns. Run waits for it: once
	// Run's context is done, its calls fail. A plain server has no handshake. Nil: not called.
	Opened func(*Peer)

	// Changed is called with each new state of the server. For a plain server, two calls may run
	// concurrently. It must not block or call Status. Nil: not called.
	Changed func(Status)

	// Tokens provides the token for a server over HTTP without an Authorization header; nil: none.
	// LoginRequired is the error by which it reports that a person must sign in. OwnToken means
	// that the program gets the token without a person.
	Tokens        Tokens
	LoginRequired error
	OwnToken      bool
	LoginWanted   bool // any refusal leads to a sign-in, whatever its headers say

	ClientName    string // sent to the server; default secateur
	ClientVersion string // default 0

	// for an answer or a sign of progress; Settings override it; default 30 s
	ResponseTimeout time.Duration
	Budget          *budget.Budget // counts messages while they are read; nil: not counted
	MaxMessageBytes int            // a larger message fails its call; default 32 MiB
	LongString      int            // record result strings longer than this in a Reply; 0: none
	HealthInterval  time.Duration  // between two health checks; 0: off
	HealthTimeout   time.Duration  // for a health check's answer; default 5 s
	InFlight        int            // concurrent calls to the server; default 256, for a URL 1024
	Waiting         int            // calls that may wait for a slot; default 4096
}

// Upstream is one MCP server. Its methods are safe for concurrent use.
type Upstream struct {
	garbage, tooLarge telemetry.Seldom // rate-limits repetitive log messages

	opt       Options
	log       *slog.Logger
	bounds    atomic.Pointer[Bounds]
	rebound   chan struct{} // buffer of one: signals new bounds
	admission admission
	opened    handshakeNotifier
	server    server
	newest    atomic.Pointer[child.Process] // the newest child started; nil: none

	unconfined sync.Once // the gaps of its sandbox are logged once
}

// server is the implementation behind an Upstream: plain, supervisor or disabled.
type server interface {
	run(ctx context.Context)
	call(ctx context.Context, req *wire.Message, opt CallOptions) (*Reply, error)
	notify(ctx context.Context, n *wire.Message) error
	status() Status
	peer(ctx context.Context) (*Peer, error)
}

// CallOptions are the options of a single call.
type CallOptions struct {
	// Related gets what the server sends for this call: progress, under the caller's token, and
	// messages on the call's own stream. Without streams, it gets the messages that certainly
	// belong to the caller (attribute.go). Notifications come in order and before Call returns.
	// Requests are served concurrently, each in its own goroutine. Serving one may take minutes,
	// during which the call's response timeout pauses. A request's context ends with the call,
	// which may return before it. Nil: Options.Incoming gets the notifications, progress is
	// dropped, and requests are refused.
	Related Handler

	// Caller identifies the owner of the call by a comparable value. Without streams, a server's
	// request belongs to a caller if all calls in flight are that caller's. Nil: different from
	// every other caller.
	Caller any

	// Own marks a request by secateur itself. Server messages are not attributed to it, and it does
	// not protect an unhealthy server from being restarted.
	Own bool

	// Patient disables the response timeout.
	Patient bool

	// Header is sent with the request to a modern server over HTTP, and to no other.
	Header []Header
}

// Header is one field of an HTTP request. Values that are not valid in a header are encoded as the
// protocol prescribes.
type Header struct{ Name, Value string }

// New builds an Upstream. It starts nothing.
func New(opt Options) (*Upstream, error) {
	if err := opt.Settings.Validate(); err != nil {
		return nil, fmt.Errorf("server %q: %w", opt.Settings.ID, err)
	}
	if err := opt.unsupported(); err != nil && !opt.Settings.Off() {
		return nil, fmt.Errorf("server %q: %w", opt.Settings.ID, err)
	}
	if !isObject(opt.Capabilities) {
		return nil, fmt.Errorf("server %q: the capabilities to declare are no JSON object", opt.Settings.ID)
	}
	opt = opt.withDefaults()
	u := &Upstream{
		opt:       opt,
		log:       opt.Log.With("server", opt.Settings.ID),
		admission: newAdmission(opt.InFlight, opt.Waiting),
		rebound:   make(chan struct{}, 1),
		opened:    newHandshakeNotifier(opt.Opened),
	}
	u.SetBounds(Bounds{
		ResponseTimeout: opt.ResponseTimeout, LongString: opt.LongString, MaxMessageBytes: opt.MaxMessageBytes, HealthInterval: opt.HealthInterval, HealthTimeout: opt.HealthTimeout,
	})
	s := opt.Settings
	switch {
	case s.Disabled:
		u.server = &disabled{u, Disabled, "it is disabled in the configuration"}
	case s.Held:
		u.server = &disabled{u, Held, s.HeldText()}
	case s.Unready != "":
		u.server = &disabled{u, Down, s.Unready}
	case s.URL == "":
		u.server = newSupervisor(u)
	case s.Transport == TransportRPC:
		u.server = newPlain(u)
	default:
		u.server = newSupervisor(u)
	}
	return u, nil
}

// unsupported returns an error for valid settings that this program does not support.
func (o Options) unsupported() error {
	if s := o.Settings; s.Builtin != "" && o.Local == nil {
		return fmt.Errorf("builtin: there is no built-in server %q", s.Builtin)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Capabilities == nil {
		o.Capabilities = []byte(`{}`)
	}
	if o.ClientName == "" {
		o.ClientName = "secateur"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "0"
	}
	inFlight := 256
	if o.Settings.URL != "" {
		inFlight = 1024
	}
	setDefault(&o.InFlight, inFlight)
	setDefault(&o.Waiting, 4096)
	return o
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// ID returns the server's id in the configuration.
func (u *Upstream) ID() string { return u.opt.Settings.ID }

// Run keeps the server alive until ctx is done. It returns when every process, goroutine and
// connection is gone. Calls before, during and after Run are safe. Run may be called once; its
// error is nil.
func (u *Upstream) Run(ctx context.Context) error {
	u.server.run(ctx)
	return nil
}

// Call sends a request and waits for its answer. The error is a *CallError, or ctx's own if the
// caller left; the server is then told to cancel.
func (u *Upstream) Call(ctx context.Context, req *wire.Message) (*Reply, error) {
	return u.CallWith(ctx, req, CallOptions{})
}

// CallWith is Call with options.
func (u *Upstream) CallWith(ctx context.Context, req *wire.Message, opt CallOptions) (*Reply, error) {
	if req.Kind() != wire.Request {
		return nil, errors.New("call: the message is not a request")
	}
	if err := u.enter(ctx); err != nil {
		return nil, err
	}
	defer u.admission.leave()
	return u.server.call(ctx, u.traced(ctx, req), opt)
}

// traced adds the request's trace to params._meta. A plain server gets the trace only in headers if
// the message has no params.
func (u *Upstream) traced(ctx context.Context, req *wire.Message) *wire.Message {
	if req.Params == nil && u.opt.Settings.Transport == TransportRPC {
		return req
	}
	params := telemetry.TraceParams(ctx, req.Params, req.Meta())
	if len(params) == 0 || len(req.Params) > 0 && &params[0] == &req.Params[0] {
		return req
	}
	m := req.WithParams(params)
	return &m
}

// Notify sends a notification without waiting for an answer. notifications/cancelled is dropped
// where ids are mapped, because its id is not the server's. Cancel a call by its context instead.
func (u *Upstream) Notify(ctx context.Context, n *wire.Message) error {
	if n.Kind() != wire.Notification {
		return errors.New("notify: the message is not a notification")
	}
	if err := u.enter(ctx); err != nil {
		return err
	}
	defer u.admission.leave()
	return u.server.notify(ctx, n)
}

// Status returns the server's current status. It is cheap.
func (u *Upstream) Status() Status {
	s := u.server.status()
	s.ID = u.opt.Settings.ID
	s.InFlight = u.admission.taken()
	return s
}

// Peer returns what the server reported in its handshake. It waits for a starting server. A plain
// server is asked once, with a timeout, and the result or failure is cached.
func (u *Upstream) Peer(ctx context.Context) (*Peer, error) { return u.server.peer(ctx) }

// ServerName returns the server's own name; "": not known yet.
func (u *Upstream) ServerName() string { return u.server.status().ServerName }
