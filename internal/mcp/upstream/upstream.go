package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/child"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// Handler serves messages in this process. It must be safe for concurrent use.
type Handler interface {
	// Serve answers a request with a whole JSON-RPC response, and a notification with nil. It should return soon
	// after ctx is done.
	Serve(ctx context.Context, msg *wire.Message) []byte
}

// Tokens gives the token to show to a server. Its methods may be used by many goroutines.
type Tokens interface {
	Token(ctx context.Context) (string, error) // "": none is needed, as far as is known
	Refused(token string)                      // the server did not take it
}

// Options are what an Upstream is built from. Zero values mean the defaults named here.
type Options struct {
	Settings Settings
	Log      *slog.Logger // nil discards

	Kill    <-chan struct{}                       // closed when a child is to end at once; nil: never
	Stderr  func(line string)                     // gets each line that a child writes to its standard error, secrets masked; nil: nobody
	BaseEnv []string                              // what every child's environment starts with, see child.BaseEnv
	Proxy   func(*http.Request) (*url.URL, error) // which proxy to use for HTTP; nil: none
	Local   Handler                               // what Settings.Builtin names

	// Incoming gets what the server sends of its own accord and no call's Related handler takes. Nil: requests are
	// answered "method not found", notifications are dropped. A ping is always answered here.
	Incoming Handler

	// Announced is called with the method of each notification that a list has changed, before anybody else gets that: it comes in order with
	// answers, on whichever stream, and none is dropped. It may not wait. Nil: nobody is told.
	Announced func(method string)

	// Refuses reports whether requests of a method are refused at once, whoever's they are; nil: none is.
	Refuses func(method string) bool

	// Capabilities are what a legacy server is told in initialize that its client can do, a raw JSON object; nil: {}.
	// A modern server is told with each request, {} where a request does not say.
	Capabilities []byte

	// Opened is called after each handshake: that of a start, of a restart, and of one that a server wants that has
	// forgotten its session. It is called from a goroutine of its own, never twice at once, and may take its time and
	// make calls; handshakes that come meanwhile are told as one, the newest, when it has returned. Run waits for it:
	// once Run's context is done, its calls fail. A plain server has no handshake. Nil: nobody is told.
	Opened func(*Peer)

	// Changed is called with each new state of the server; of one that takes each message by itself two may come at once. It may
	// not wait, and not ask for the status. Nil: nobody is told.
	Changed func(Status)

	// Tokens gives the one to show to a server over HTTP whose headers say nothing of that; nil: there is none. LoginRequired is the error
	// with which it says that a person has to sign in. OwnToken means that no person is needed: the program asks for it by itself.
	Tokens        Tokens
	LoginRequired error
	OwnToken      bool
	LoginWanted   bool // a refusal is answered by a sign-in, whatever the server says of it

	ClientName    string // told to the server; default secateur
	ClientVersion string // default 0

	ResponseTimeout time.Duration  // for an answer or a sign of progress; Settings win; default 30 s
	Budget          *budget.Budget // counts messages while they are read; nil: nothing does
	MaxMessageBytes int            // a larger message fails its call; default 32 MiB
	LongString      int            // strings of results longer than this are noted in a Reply; 0: none
	HealthInterval  time.Duration  // between two checks of a server's health; 0: off
	HealthTimeout   time.Duration  // for the answer to one; default 5 s
	InFlight        int            // calls at the server at one time; default 256, for a URL 1024
	Waiting         int            // calls that may wait for their turn; default 4096
}

// Upstream is one MCP server. Its methods may be used by many goroutines.
type Upstream struct {
	garbage, tooLarge telemetry.Seldom // what would fill a log

	opt       Options
	log       *slog.Logger
	bounds    atomic.Pointer[Bounds]
	rebound   chan struct{} // holds one: the bounds are others
	admission admission
	opened    handshakeNotifier
	server    server
	newest    atomic.Pointer[child.Process] // that was started; nil: none was
}

// server is what stands behind an Upstream: plain, supervisor or disabled.
type server interface {
	run(ctx context.Context)
	call(ctx context.Context, req *wire.Message, opt CallOptions) (*Reply, error)
	notify(ctx context.Context, n *wire.Message) error
	status() Status
	peer(ctx context.Context) (*Peer, error)
}

// CallOptions are what a single call may ask for.
type CallOptions struct {
	// Related gets what the server sends for this call: its progress, under the caller's own token, and what comes
	// on the call's own stream, or, where there are no streams, what is certainly its caller's (attribute.go).
	// Notifications come in order and before Call returns. Requests come side by side, each in a goroutine of its own:
	// serving one may take minutes, in which the call's response timeout rests. Its context ends when the call does,
	// which may return before it. Nil: Options.Incoming gets notifications, nobody the progress, and requests are
	// refused.
	Related Handler

	// Caller tells whose call this is, by a value that can be compared: where there are no streams, what a server asks
	// while calls of one caller alone are in flight is that caller's. Nil: somebody else's than any other.
	Caller any

	// Own says that this is a question of the program itself, no caller's: what the server sends while it waits is
	// not put down to it, and it does not count as a call for which an ailing server is spared.
	Own bool

	// Patient says that there is no response timeout.
	Patient bool

	// Header is sent with the request to a modern server over HTTP, and to no other.
	Header []Header
}

// Header is one field of an HTTP request. What its value may not be as it is, is encoded as the protocol says.
type Header struct{ Name, Value string }

// New builds an Upstream and starts nothing.
func New(opt Options) (*Upstream, error) {
	if err := opt.Settings.Validate(); err != nil {
		return nil, fmt.Errorf("server %q: %w", opt.Settings.ID, err)
	}
	if err := opt.unsupported(); err != nil && !opt.Settings.Disabled {
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

// unsupported is what valid settings may ask for and this program does not do.
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

// ID is the server's id in the configuration.
func (u *Upstream) ID() string { return u.opt.Settings.ID }

// Run keeps the server alive until ctx is done, and returns when every process, goroutine and connection is gone.
// Calls before, during and after it are safe. It is
// run once, and its error is nil.
func (u *Upstream) Run(ctx context.Context) error {
	u.server.run(ctx)
	return nil
}

// Call sends a request and waits for its answer. The error is a *CallError, or ctx's own when the caller went away; the
// server is then told that nobody waits any more.
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

// traced tells the server in params._meta which trace a request belongs to. One that gets every message as it came is told in the
// headers alone where the message has no params.
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

// Notify sends a notification; no answer is waited for. A notifications/cancelled is not sent on where ids are mapped,
// because its id is not the server's: a call is cancelled by its context.
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

// Status is how the server is doing now. It is cheap.
func (u *Upstream) Status() Status {
	s := u.server.status()
	s.ID = u.opt.Settings.ID
	s.InFlight = u.admission.taken()
	return s
}

// Peer is what the server said about itself in its handshake. It waits for a server that is starting. A plain
// server is asked once, in a bounded time, and what it said, or that it said nothing, is remembered.
func (u *Upstream) Peer(ctx context.Context) (*Peer, error) { return u.server.peer(ctx) }

// ServerName is the name that the server gives itself, "" as long as it is not known.
func (u *Upstream) ServerName() string { return u.server.status().ServerName }
