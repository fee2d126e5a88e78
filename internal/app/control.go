package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/pins"
	"secateur/internal/llm/tokens"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/confine"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/rawjson"
	"secateur/internal/secret"
	"secateur/internal/store/originals"
)

// newControl builds the control plane. sessions returns the number of MCP sessions.
func (a *App) newControl(sessions func() int) (*admin.API, error) {
	return admin.New(admin.Options{
		Status:  func(ctx context.Context) admin.Status { return a.status(ctx, sessions()) },
		Servers: a.controlServers,
		Stderr:  a.serverStderr,
		Restart: func(ctx context.Context, id string) error { return a.actOn(ctx, id, a.servers.Restart) },
		Refresh: func(ctx context.Context, id string) error { return a.actOn(ctx, id, a.servers.Refresh) },
		Reload:  a.controlReload,
		Edit:    a.editor,
		Tools:   a.controlTools,

		FindTools: a.findTools,

		Call:     a.callTool,
		Original: a.original, Recovered: a.recovered,
		Limits:   a.limitUsage,
		Savings:  a.history.Query,
		Events:   a.feed,
		Ledger:   a.ledger,
		Stopping: a.stopping,
		Captured: a.capturedOf,
		Logins:   a.controlLogins,
		SignIns:  admin.SignIns{Begin: a.beginSignIn, State: a.signIns.state, End: a.signOut},
		Explain:  a.explain,
		Access:   a.accessSettings,
		Tokens:   a.namedTokens,
		Pins:     a.controlPins,
		Approve:  a.approvePins,
		Revoke:   a.revokePins,

		Templates:  templateHost{a},
		Playground: a.playground(),
		Resume:     a.resume,
	})
}

// controlGuard protects the control plane's routes.
type controlGuard interface {
	control(anyRole bool, d door) http.Handler
}

// hangControl registers the control plane's routes.
func hangControl(mux *router, g controlGuard, api *admin.API) {
	for _, o := range api.Operations() {
		mux.Handle(o.Pattern(), g.control(o.AnyRole, o.Serve))
	}
	mux.Handle(admin.Base+"/", g.control(true, api.NotFound))
}

// control admits callers with the role admin to the control plane. Without credentials, it refuses
// pages of other origins, even those that may call the other doors.
func (g guard) control(anyRole bool, d door) http.Handler {
	hang := func(g guard) http.Handler {
		if anyRole {
			return g.shut(plainRefusal, g.limited(d))
		}
		return g.role(d, access.RoleAdmin)
	}
	own := g
	own.policy.Origins = nil
	asked, unasked := g.withCookie(hang(own), hang(g)), hang(own)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if g.auth.Asks() {
			asked.ServeHTTP(w, r)
			return
		}
		unasked.ServeHTTP(w, r)
	})
}

// status returns the state of the program.
func (a *App) status(ctx context.Context, sessions int) admin.Status {
	s := admin.Status{
		Version: a.opt.Version, Commit: a.opt.Commit, Mode: "serve", PID: os.Getpid(), StartedAt: a.started, Uptime: age(a.started), Listen: a.listening(),
		Config:  a.configState(),
		Doors:   a.openDoors(),
		Servers: map[string]int{}, Sessions: sessions,
	}
	if a.opt.Lazy {
		s.Mode = "stdio"
	}
	for _, st := range a.servers.Status() {
		s.Servers[string(st.State)]++
		s.InFlight += st.InFlight
	}
	kept := a.storeState()
	s.Store = admin.StoreUse{
		URL: secret.URL(a.cfg.Store.URL), State: kept.State, Originals: kept.Originals, Bytes: kept.Bytes, MaxBytes: kept.MaxBytes,
		Refused: kept.Refused, Dropped: kept.Dropped,
	}
	if a.replicas != nil {
		s.Replicas = a.controlReplicas(ctx)
	}
	return s
}

// openDoors returns the doors that are open to clients.
func (a *App) openDoors() []string {
	doors := []string{string(access.DoorMCP)}
	if !a.opt.Lazy {
		doors = append(doors, string(access.DoorGateway))
		if len(a.live.Load().cfg.Providers) > 0 {
			doors = append(doors, string(access.DoorChat))
		}
	}
	if a.live.Load().pruner != nil {
		doors = append(doors, string(access.DoorPruner))
	}
	return append(doors, string(access.DoorAdmin))
}

// listening returns the address of the listener; "": none.
func (a *App) listening() string {
	if addr := a.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

// age returns the seconds since t, rounded to milliseconds; 0 for the zero time.
func age(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return time.Since(t).Round(time.Millisecond).Seconds()
}

// controlServers returns all servers as the control plane shows them.
func (a *App) controlServers() (all []admin.Server) {
	for _, st := range a.servers.Status() {
		all = append(all, a.controlServer(st))
	}
	return all
}

func (a *App) controlServer(st pool.Status) admin.Server {
	s := admin.Server{
		ID: st.ID, State: string(st.State), Era: string(st.Era), Protocol: st.Protocol, Uptime: age(st.Up), Restarts: st.Restarts,
		LastError: st.LastError, InFlight: st.InFlight, Tools: st.Tools, Resources: st.Resources, Prompts: st.Prompts, Problems: problemsOf(st),
		SandboxGaps: []string{},
	}
	if st.PID > 0 {
		s.PID = &st.PID
	}
	if d, ok := a.servers.Details(st.ID); ok {
		s.Transport = transportOf(d.Settings)
		s.Sandbox, s.SandboxGaps = sandboxOf(d.Settings, confine.Detect())
		for _, items := range [][][]byte{d.Lists.Tools, d.Lists.Resources, d.Lists.Templates, d.Lists.Prompts} {
			for _, item := range items {
				s.Tokens += definitionTokens(item)
			}
		}
	}
	return s
}

func transportOf(s upstream.Settings) string {
	switch {
	case s.Builtin != "":
		return "builtin"
	case s.URL == "":
		return "stdio"
	case s.Transport == "":
		return upstream.TransportHTTP
	default:
		return s.Transport
	}
}

func problemsOf(st pool.Status) []string {
	all := []string{}
	for _, p := range st.Problems {
		all = append(all, fmt.Sprintf("%s %q: %s", p.List, p.Item, p.Reason))
	}
	return all
}

func (a *App) serverStderr(id string, lines int) []string {
	d, ok := a.servers.Details(id)
	if !ok {
		return nil
	}
	return d.Stderr(lines)
}

// levelStderr is the level of lines from a server's standard error.
const levelStderr = "STDERR"

// stderrOf publishes a server's standard error as events. With debug logs it returns nil, since the
// log publishes the lines.
func (a *App) stderrOf(server string) func(line string) {
	if a.log.Enabled(context.Background(), slog.LevelDebug) {
		return nil
	}
	return func(line string) { a.feed.Publish(events.Log{Server: server, Level: levelStderr, Text: line}) }
}

// actOn runs an action on a server and turns its errors into problems.
func (a *App) actOn(ctx context.Context, id string, act func(context.Context, string) error) error {
	err := act(ctx, id)
	switch {
	case errors.Is(err, pool.ErrUnknownServer):
		return admin.NewProblem(http.StatusNotFound, admin.CodeUnknownServer, err.Error(), "")
	case errors.Is(err, pool.ErrOver):
		return admin.NewProblem(http.StatusServiceUnavailable, "upstream_unavailable", "the program is stopping", "")
	}
	return err
}

// controlTools returns the tools that a caller may use, by the names of the contract.
func (a *App) controlTools(p *access.Principal) (all []admin.Tool) {
	for _, st := range a.servers.Status() {
		d, _ := a.servers.Details(st.ID)
		for _, raw := range d.Lists.Tools {
			tool := rawjson.GetText(raw, "name")
			target := access.Target{Door: access.DoorAdmin, Server: st.ID, Kind: access.KindTool, Name: tool}
			live := a.live.Load()
			may, off := live.admission, !live.bounds(st.ID).Settings.Offers(tool)
			if !may.Lists(p, target) && (!off || !may.Rules().Decide(p, target).Allowed) {
				continue
			}
			all = append(all, admin.Tool{
				Name: st.ID + catalog.ContractSeparator + tool, Server: st.ID, Tool: tool, Tokens: definitionTokens(raw), Pin: a.pins.State(st.ID, pins.Tool, tool), Off: off,
			})
		}
	}
	slices.SortStableFunc(all, func(x, y admin.Tool) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// findTools are the tools that serve a query, of those that a caller may have.
func (a *App) findTools(p *access.Principal, query string, limit int) (found []admin.FoundTool) {
	var all []catalog.ServerLists
	for _, st := range a.servers.Status() {
		d, _ := a.servers.Details(st.ID)
		d.Lists.Server = st.ID
		all = append(all, d.Lists)
	}
	control := a.live.Load().admission
	sees := func(server, tool string) bool {
		return control.Lists(p, access.Target{Door: access.DoorAdmin, Server: server, Kind: access.KindTool, Name: tool})
	}
	for _, f := range a.aggregate.FindTools(catalog.Merge(all, nil), sees, query, limit) {
		found = append(found, admin.FoundTool{Name: f.Name, Signature: f.Signature, Description: f.Description, Score: f.Score})
	}
	return found
}

// original is a text that was cut, for its owner.
func (a *App) original(ctx context.Context, p *access.Principal, id string) (string, error) {
	text, err := a.store.Get(ctx, p.Owner(), id)
	switch {
	case errors.Is(err, originals.ErrNotFound):
		if over := a.live.Load().admission.Missed(ctx, p); over != nil {
			return "", admin.NewProblem(http.StatusTooManyRequests, admin.CodeRateLimited, "Rate limit exceeded", "too many ids that are not there; try again in a minute")
		}
		return "", admin.NewProblem(http.StatusNotFound, admin.CodePruneIDNotFound, err.Error(), "originals are kept for store.ttl_s seconds after they were last used")
	case err != nil:
		return "", admin.NewProblem(http.StatusServiceUnavailable, admin.CodeUnavailable, err.Error(), "try again")
	}
	return text, nil
}

func (a *App) limitUsage() []admin.LimitUsage {
	all := []admin.LimitUsage{}
	for _, u := range a.live.Load().admission.Usage() {
		all = append(all, admin.LimitUsage{
			Limit: u.Limit, Key: strings.Join(u.Key, " "), Remaining: max(0, u.Remaining), Reset: u.Reset.Round(time.Millisecond).Seconds(), InFlight: u.InFlight, Queued: u.Queued,
			Burst: u.Burst, Concurrent: u.Settings.Concurrent, Queue: u.Settings.Queue,
			TokensToday: u.Tokens, TokensPerDay: u.Settings.TokensPerDay, USDToday: u.USD, USDPerDay: u.Settings.USDPerDay,
		})
	}
	slices.SortFunc(all, func(x, y admin.LimitUsage) int { return strings.Compare(x.Limit+"\x00"+x.Key, y.Limit+"\x00"+y.Key) })
	return all
}

// explain reports which rule decides about a principal and a target, and why the others do not.
func (a *App) explain(principal, target, door string) (access.Explanation, error) {
	p, err := a.live.Load().auth.Named(principal)
	t, ok := access.ParseTarget(target)
	if err == nil && !ok {
		err = errors.New("a target is server::tool, prompt:…, resource:…, model:… or route:…")
	}
	if err != nil {
		return access.Explanation{}, admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, err.Error(), "")
	}
	if door != "" {
		t.Door = access.Door(door)
	}
	out := a.live.Load().admission.Rules().Explain(p, t)
	out.Principal = principal
	return out, nil
}

// definitionTokens estimates how many tokens a definition takes in a prompt.
func definitionTokens(raw []byte) int { return tokens.Estimate(string(raw), tokens.JSON) }
