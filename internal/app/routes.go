package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/gateway"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/telemetry"
)

// routes opens every door, replacing those before, and registers it behind the guard.
func (gen *generation) routes(before *generation) (*router, error) {
	host, _, err := net.SplitHostPort(gen.App.cfg.Listen)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gen.openGateway(before), gen.openChat(before), gen.openHook(), gen.openMCP()); err != nil {
		return nil, err
	}
	g := gen.guard(host)
	if g.capture, err = gen.recorder(); err != nil {
		return nil, err
	}
	health := admin.Health{Draining: gen.draining.Load, Servers: gen.serverStates, Store: gen.storeState}
	mux := newRouter()
	mux.Handle("GET /healthz", g.open(health.Alive))
	mux.Handle("GET /readyz", g.ready(health.Ready))
	mux.Handle("GET /metrics", g.role(plain(telemetry.Handler(gen.registry)), access.RoleAdmin, access.RoleMetrics))
	mux.Handle("GET "+auth.MetadataPath, g.open(gen.auth.ServeMetadata))
	mux.Handle("GET "+auth.MetadataPath+"/", g.open(gen.auth.ServeMetadata))
	mux.Handle("/api/mcp-gateway/{server}/rpc", g.shut(rpchttp.Refuse, gen.gateway.Serve))
	gen.hangMCP(mux, g)
	control, err := gen.newControl(gen.mcp.Sessions)
	if err != nil {
		return nil, err
	}
	hangControl(mux, g, control)
	dashboard, err := g.newDashboard(gen.certificates != nil || strings.HasPrefix(gen.cfg.Auth.PublicURL, "https://"))
	if err != nil {
		return nil, err
	}
	hangDashboard(mux, g, dashboard)
	hangChat(mux, g, gen.chat)
	hangHook(mux, g, gen.hook)
	gen.hangCompress(mux, g)
	if gen.pruner != nil {
		hangPruner(mux, g, gen.pruner)
	}
	mux.Handle("/", g.open(notFound("POST /mcp, POST /mcp/{server}, POST /api/mcp-gateway/{server}/rpc, POST /v1/chat/completions, "+
		"POST /v1/compress, GET /v1/retrieve/{hash}, GET /v1/models, POST /rpc, GET /health, GET /healthz, GET /readyz, GET /metrics, GET /ui/ and GET /api/v1/openapi.json")))
	return mux, nil
}

// router is a ServeMux that can list its routes.
type router struct {
	*http.ServeMux
	patterns []string
}

func newRouter() *router { return &router{ServeMux: http.NewServeMux()} }

// Handle registers a route.
func (r *router) Handle(pattern string, h http.Handler) {
	r.patterns = append(r.patterns, pattern)
	r.ServeMux.Handle(pattern, h)
}

// openGateway opens the door for raw JSON-RPC to one server.
func (gen *generation) openGateway(before *generation) error {
	masker, err := mask.New(gen.cfg.ObservationMasking.Gateway)
	if err != nil {
		return fmt.Errorf("observation_masking.gateway: %w", err)
	}
	gen.gateway, err = gateway.New(gateway.Options{
		Replaces:        before.gateway,
		Servers:         gen.servers.Shared,
		IDs:             gen.sortedIDs,
		IsDisabled:      gen.servers.IsDisabled,
		Lists:           gen.listsOf,
		Lister:          gen.servers,
		Subscribe:       gen.subscribe,
		Masker:          masker,
		Originals:       gen.store,
		Admission:       gen.admission,
		Tasks:           gen.tasks,
		MaxMessageBytes: gen.cfg.MaxMessageBytes,
		Metrics:         gen.registry,
		Events:          gen.feed,
		Tools:           gen.tools,
		Cut:             gen.cutMade,
		Log:             gen.log,
	})
	return err
}

// subscribe subscribes to a resource without a listener, so the subscription ends at once.
func (gen *generation) subscribe(ctx context.Context, id, uri string) (refused []byte, err error) {
	member := gen.servers.Join(pool.Client{Era: era.Legacy, Only: id}, nil)
	defer member.Leave()
	err = member.Subscribe(ctx, id, uri)
	if said, ok := errors.AsType[*pool.ServerError](err); ok {
		return said.Object, nil
	}
	return nil, err
}

// listsOf returns a server's lists from its shared connection.
func (gen *generation) listsOf(ctx context.Context, id string) *catalog.Catalog {
	member := gen.servers.Join(pool.Client{Era: era.Legacy, Only: id}, nil)
	defer member.Leave()
	lists, _ := member.Catalog(ctx)
	return lists
}

// guard returns the guard for a listener on this host.
func (gen *generation) guard(host string) guard {
	return guard{
		policy:    access.Policy{Listen: host, Hosts: gen.cfg.AllowedHosts, Origins: gen.cfg.AllowedOrigins},
		auth:      gen.auth,
		admission: gen.admission,
		budget:    gen.budget,
		log:       gen.log,
		guesses:   gen.guesses,
		rates:     gen.rates,
		tracing:   gen.tracing,
		feed:      gen.feed,
		replicas:  gen.replicas,
		sessions:  &gen.sessions,
	}
}

// plain is a door that ignores its caller.
func plain(h http.Handler) door {
	return func(w http.ResponseWriter, r *http.Request, _ *access.Principal) { h.ServeHTTP(w, r) }
}

// notFound lists the available endpoints.
func notFound(doors string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such endpoint: "+r.Method+" "+r.URL.Path+"; available are "+doors, http.StatusNotFound)
	}
}

// listen opens a listener. Its errors say what to do if the address is not available.
func listen(ctx context.Context, addr, choice string) (net.Listener, error) {
	var how net.ListenConfig
	how.SetMultipathTCP(false) // its sockets accept no filter; see refuseConnections
	ln, err := how.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port; stop it, or choose another with %s", addr, choice)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: not allowed; choose a port above 1023 with %s", addr, choice)
	}
	return nil, fmt.Errorf("listen on %s: %s", addr, strings.TrimPrefix(err.Error(), "listen tcp "))
}
