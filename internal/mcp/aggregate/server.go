package aggregate

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/tasks"
	"secateur/internal/ops/events"
	"secateur/internal/ops/replica"
	"secateur/internal/ops/telemetry"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// Options make a Server.
type Options struct {
	Pool      *pool.Pool
	Masker    *mask.Masker    // nil: nothing is cut
	Originals originals.Store // where originals go before they are cut
	// TargetChars is what long texts are pruned towards for the goal of their call; 0: their head and tail stay.
	TargetChars int
	// MaskRepeats cuts structuredContent: what it says again of a text that is cut, and more for
	// clients whose models read it alone.
	MaskRepeats bool
	Admission   *admission.Control // nil: everyone may do everything
	// Authenticate says whose token a message for a path brings in params.proxy.authToken.
	Authenticate func(ctx context.Context, token, path string) (*access.Principal, access.Verdict)
	// Hold gives the context of a request whose message has told who sends it, which ends with that token; nil: it does not end. The
	// caller calls release when the request is over.
	Hold func(ctx context.Context, p *access.Principal) (_ context.Context, release func())

	// Tasks are who made which task; nil: what this door makes is kept for this door.
	Tasks *tasks.Owners

	// Replicas are those that hold calls which clients come back to here; nil: there are none.
	Replicas *replica.Group

	PageSize int // items of a list on a page at most; 0: all
	Version  string

	// Recovery is the id of the server whose recover_text gives back what was cut; "": the first that calls itself a
	// pruner.
	Recovery string
	// RecoverChars is how many characters of an original one call of Recovery returns, unless the
	// call says otherwise.
	RecoverChars int
	// GreetingTime is how long initialize and server/discover of a single server's door wait for that server. Default
	// 0.9 s: a client that waits for a second gets its answer.
	GreetingTime time.Duration
	// AnswerTime is how long a client that is there may take to answer a server's question. Default ten minutes: a
	// person may have to be asked.
	AnswerTime time.Duration
	// ParkTime is how long the client of a parked call may take to come back to it. Default two minutes: nobody can
	// say whether it ever will, and until then the server's call goes on.
	ParkTime time.Duration

	Metrics prometheus.Registerer
	Events  *events.Feed          // nil: nobody listens
	Tools   *telemetry.ToolLabels // nil: no tool has a label of its own
	// ToolProfiles say which clients find tools instead of listing them; nil: none.
	ToolProfiles *catalog.ToolProfiles
	Cut          func(cutting.Made) // told of each cut; nil: nobody wants to know
	Log          *slog.Logger       // nil discards
}

// Server is the door. Its methods may be used by many goroutines.
type Server struct {
	opt     Options
	log     *slog.Logger
	info    []byte // serverInfo, JSON
	parked  parkedCalls
	jobs    *background
	seal    sealer
	metrics metrics
	now     atomic.Pointer[live]
	all     *scope

	contractNames contractNames
	indexes       toolIndexes
	frozen        frozenLists
	sessions      cutting.Sessions // of clients without a connection
}

// New makes a Server.
func New(opt Options) (*Server, error) {
	if opt.Pool == nil || opt.Authenticate == nil || opt.Masker != nil && opt.Originals == nil {
		return nil, errors.New("aggregate: a pool, a way to tell callers apart and, for masking, a store are needed")
	}
	opt = opt.withDefaults()
	seal, err := newSealer(opt.Replicas.ID())
	if err != nil {
		return nil, err
	}
	info := rawjson.Object{'{'}
	info.Text("name", "secateur")
	info.Text("title", "secateur")
	info.Text("version", opt.Version)
	s := &Server{opt: opt, log: opt.Log, jobs: newBackground(), info: append(info, '}'), seal: seal, metrics: newMetrics(opt.Metrics)}
	if err := s.Reload(opt); err != nil {
		return nil, err
	}
	s.all = &scope{server: s}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tasks == nil {
		o.Tasks = &tasks.Owners{}
	}
	if o.GreetingTime <= 0 {
		o.GreetingTime = 900 * time.Millisecond
	}
	if o.AnswerTime <= 0 {
		o.AnswerTime = 10 * time.Minute
	}
	if o.ParkTime <= 0 {
		o.ParkTime = 2 * time.Minute
	}
	return o
}

// Aggregate is all servers as one.
func (s *Server) Aggregate() downstream.Server { return s.all }

// Asked is what a client asks for with its address or its flags.
type Asked struct {
	Names catalog.ClientSettings
	Tools string // catalog.ModeList, catalog.ModeSearch; "": as its profile says
}

// AggregateAsking is all servers as one, for a client that asks for names, or for a way to learn of tools.
func (s *Server) AggregateAsking(asked Asked) downstream.Server {
	if asked == (Asked{}) {
		return s.all
	}
	return &scope{server: s, asked: asked.Names, mode: asked.Tools}
}

// Only is one server as it is, nothing renamed and nothing cut. Where there is none of that id, all requests are told so.
func (s *Server) Only(id string) downstream.Server {
	return &scope{server: s, only: id, missing: !slices.Contains(s.opt.Pool.IDs(), id)}
}

// Has reports whether there is a server for a caller. Who is told by which rule it is hidden hears that from its door.
func (s *Server) Has(p *access.Principal, id string) bool {
	return slices.Contains(s.opt.Pool.IDs(), id) && s.now.Load().Admission.MayKnow(p, access.DoorMCP, id)
}

// Known are the ids of the servers that a caller may know of.
func (s *Server) Known(p *access.Principal) []string {
	return slices.DeleteFunc(slices.Clone(s.opt.Pool.IDs()), func(id string) bool { return !s.now.Load().Admission.Sees(p, access.DoorMCP, id) })
}

// IsDisabled reports whether a server is switched off of which a caller may know.
func (s *Server) IsDisabled(p *access.Principal, id string) bool {
	return s.opt.Pool.IsDisabled(id) && s.now.Load().Admission.Sees(p, access.DoorMCP, id)
}

// Close ends what waits for clients to come back. What has a client still goes on.
func (s *Server) Close() { s.parked.close() }

// Wait ends what goes on in the background and returns when it has ended. It is for when no request is left.
func (s *Server) Wait() { s.jobs.wait() }

// scope is what a client sees.
type scope struct {
	server *Server
	only   string // the id of the one server; "": all
	asked  catalog.ClientSettings
	mode   string

	missing bool // there is no such server
}

// Open makes the state of a client that has a connection of its own.
func (sc *scope) Open(o downstream.Opening) downstream.Session {
	return &clientConn{Server: sc.server, only: sc.only, missing: sc.missing, asked: sc.asked, mode: sc.mode, link: o.Link, opener: o.Principal, tag: rand.Text(), quiet: make(chan struct{})}
}

// Stateless makes the state for requests that stand alone.
func (sc *scope) Stateless() downstream.Session {
	return &clientConn{Server: sc.server, only: sc.only, missing: sc.missing, asked: sc.asked, mode: sc.mode}
}
