package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
	"secateur/internal/ops/events"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
)

// Options are the data and actions of the control plane. An operation whose function is nil does
// not exist. The functions must be safe for concurrent use. They return a *Problem to refuse an
// action.
type Options struct {
	Status  func(ctx context.Context) Status
	Servers func() []Server // all configured servers, in order
	Stderr  func(id string, lines int) []string
	// waits until the server is ready or has failed
	Restart func(ctx context.Context, id string) error
	// waits until its lists have been fetched again
	Refresh func(ctx context.Context, id string) error

	Reload func(ctx context.Context, dryRun bool) (Reloaded, error)
	Edit   ServerEditor                     // nil: the configuration file is not changed
	Tools  func(p *access.Principal) []Tool // that the caller may have
	// FindTools are those of them that serve a query, best first.
	FindTools func(p *access.Principal, query string, limit int) []FoundTool
	Call      func(ctx context.Context, p *access.Principal, tool string, arguments jsontext.Value) (Called, error)
	Original  func(ctx context.Context, p *access.Principal, id string) (string, error)
	SignIns   SignIns
	// Captured is what is kept of a request of the caller's.
	Captured func(p *access.Principal, request string) Captured
	// Recovered is told what was given back of an original; nil: ignored.
	Recovered func(id, returned string)
	Limits    func() []LimitUsage
	Logins    func() ([]Login, error)
	Savings   func(history.Query) (history.Savings, error)
	Events    *events.Feed
	Ledger    *ledger.Ledger
	Stopping  <-chan struct{} // closed when streams must end; nil: never
	Explain   func(principal, target, door string) (access.Explanation, error)

	Templates TemplateHost // nil: no resource templates are hosted
	Access    func() AccessSettings
	Tokens    func() ([]NamedToken, error)
	Pins      func() ([]Pin, error)
	// one tool, or "" for all changed ones of the server
	Approve    func(ctx context.Context, server, tool string) ([]string, error)
	Revoke     func(ctx context.Context, server, tool string) (revoked []string, err error)
	Playground Playground
	Resume     func(ledger.Account) *Resume // nil: unknown
}

// API is the control plane.
type API struct {
	opt        Options
	operations []Operation
	document   []byte // OpenAPI
}

// New returns the control plane.
func New(opt Options) (*API, error) {
	a := &API{opt: opt}
	a.operations = append(a.operations, whoami(), a.openAPI())
	add := func(there bool, o ...Operation) {
		if there {
			a.operations = append(a.operations, o...)
		}
	}
	add(opt.Status != nil, a.status())
	if opt.Servers != nil {
		add(true, a.servers(), a.server())
		add(opt.Stderr != nil, a.stderr())
		add(opt.Restart != nil, a.restart())
		add(opt.Refresh != nil, a.refresh())
		add(opt.SignIns.Begin != nil, a.beginSignIn(), a.signInState(), a.endSignIn())
		add(opt.Edit != nil, a.addServer(), a.changeServer(), a.removeServer(), a.disable(), a.enable(), a.approveServer())
	}
	add(opt.Reload != nil, a.reload())
	add(opt.Tools != nil, a.tools())
	add(opt.FindTools != nil, a.findTools())
	add(opt.Call != nil, a.call())
	add(opt.Original != nil, a.original())
	add(opt.Limits != nil, a.limits())
	add(opt.Logins != nil, a.logins())
	add(opt.Savings != nil, a.savings(), a.savingsCSV())
	add(opt.Events != nil, a.cuts(), a.cut(), a.events(), a.refusals())
	add(opt.Captured != nil, a.captured())
	add(opt.Ledger != nil, a.conversations(), a.conversation())
	add(opt.Explain != nil, a.explain())
	add(opt.Templates != nil, a.templates(), a.template(), a.createTemplate(), a.replaceTemplate(), a.deleteTemplate())
	add(opt.Access != nil, a.access())
	add(opt.Tokens != nil, a.tokens())
	add(opt.Pins != nil, a.pins())
	add(opt.Approve != nil, a.approve())
	add(opt.Revoke != nil, a.revoke())
	add(opt.Playground.Text != nil, a.playText())
	add(opt.Playground.Demos != nil, a.demos())
	add(opt.Playground.Conversation != nil, a.playConversation())
	var err error
	a.document, err = describe(a.operations)
	return a, err
}

// Operations returns all operations.
func (a *API) Operations() []Operation { return a.operations }

// NotFound answers a request below Base that matches no operation.
func (a *API) NotFound(w http.ResponseWriter, r *http.Request, _ *access.Principal) {
	path := strings.TrimPrefix(r.URL.Path, Base)
	var allowed []string
	for _, o := range a.operations {
		if o.leadsTo(path) {
			allowed = append(allowed, o.Method)
		}
	}
	if allowed != nil {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		NewProblem(http.StatusMethodNotAllowed, CodeInvalidRequest, r.Method+" is not for this path", "use "+strings.Join(allowed, " or ")).Write(w)
		return
	}
	NewProblem(http.StatusNotFound, CodeInvalidRequest, "there is no "+quoted(r.URL.Path), "GET "+Base+"/openapi.json lists what there is").Write(w)
}

// leadsTo reports whether a path matches the operation.
func (o Operation) leadsTo(path string) bool {
	own, asked := strings.Split(o.Path, "/"), strings.Split(path, "/")
	if len(own) != len(asked) {
		return false
	}
	for i, part := range own {
		if part != asked[i] && !strings.HasPrefix(part, "{") {
			return false
		}
	}
	return true
}

func (a *API) openAPI() Operation {
	return Operation{
		ID: "getOpenAPI", Method: http.MethodGet, Path: "/openapi.json", Summary: "This document", answer: jsontext.Value("{}"),
		do: func(*http.Request, *access.Principal) (any, error) { return jsontext.Value(a.document), nil },
	}
}

// Identity is the caller's identity.
type Identity struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject"`
	Tenant  string   `json:"tenant"`
	Roles   []string `json:"roles"`
}

func whoami() Operation {
	return Operation{
		ID: "whoami", Method: http.MethodGet, Path: "/whoami", Summary: "Who the caller is taken for", AnyRole: true, answer: Identity{},
		do: func(_ *http.Request, p *access.Principal) (any, error) {
			return Identity{p.Issuer, p.Subject, p.Tenant, append([]string{}, p.Roles...)}, nil
		},
	}
}

func (a *API) explain() Operation {
	return Operation{
		ID: "explainAccess", Method: http.MethodGet, Path: "/access/explain", Summary: "Which rule decides about a principal and a target, and why the others do not",
		query: []parameter{
			{name: "principal", about: "a token's name, a key id, or subject=a,tenant=b,role=c", is: "string"},
			{name: "target", about: "server::tool, prompt:…, resource:…, model:… or route:…", is: "string"},
			{name: "door", about: "gateway, mcp, chat, pruner or admin", is: "string"},
		},
		answer: access.Explanation{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			q := r.URL.Query()
			return a.opt.Explain(q.Get("principal"), q.Get("target"), q.Get("door"))
		},
	}
}

// Status is the state of the program.
type Status struct {
	Version   string         `json:"version"`
	Commit    string         `json:"commit"` // "": not recorded
	Mode      string         `json:"mode"`   // serve, stdio
	PID       int            `json:"pid"`
	StartedAt time.Time      `json:"started_at"`
	Uptime    float64        `json:"uptime_s"`
	Listen    string         `json:"listen"` // "": no listener
	Config    ConfigState    `json:"config"`
	Doors     []string       `json:"doors"`
	Servers   map[string]int `json:"servers"` // number of servers by state
	Store     StoreUse       `json:"store"`
	InFlight  int            `json:"in_flight"` // running calls to servers
	Sessions  int            `json:"sessions"`  // of MCP clients
	Replicas  []Replica      `json:"replicas,omitzero"`
}

// Replica is one of the replicas that share a Redis, as of a few seconds ago.
type Replica struct {
	Name         string    `json:"name"`
	Address      string    `json:"address"`
	Self         bool      `json:"self"` // this is the replica that answers
	Version      string    `json:"version"`
	StartedAt    time.Time `json:"started_at"`
	ConfigSHA256 string    `json:"config_sha256"` // of its configuration file
	InFlight     int       `json:"in_flight"`
	Sessions     int       `json:"sessions"`
}

// ConfigState describes the configuration in use.
type ConfigState struct {
	Path          string    `json:"path"`   // "": the built-in default
	SHA256        string    `json:"sha256"` // of the file
	LoadedAt      time.Time `json:"loaded_at"`
	RestartNeeded []string  `json:"restart_needed"` // changed keys that take effect after a restart
}

// StoreUse is the state of the store of originals.
type StoreUse struct {
	URL       string `json:"url"`
	State     string `json:"state"` // ok, full, unavailable
	Originals int    `json:"originals"`
	Bytes     int64  `json:"bytes"`
	MaxBytes  int64  `json:"max_bytes"`
	Refused   int64  `json:"refused"` // originals refused since the start, whose texts passed whole
	Dropped   int64  `json:"dropped"` // originals evicted to make room
}

func (a *API) status() Operation {
	return Operation{
		ID: "getStatus", Method: http.MethodGet, Path: "/status", Summary: "How the program fares", answer: Status{},
		do: func(r *http.Request, _ *access.Principal) (any, error) { return a.opt.Status(r.Context()), nil },
	}
}
