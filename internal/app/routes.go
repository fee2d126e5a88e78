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
	"secateur/internal/admin"
	"secateur/internal/aggregate"
	"secateur/internal/auth"
	"secateur/internal/downstream"
	"secateur/internal/gateway"
	"secateur/internal/mask"
	"secateur/internal/rpchttp"
	"secateur/internal/telemetry"
)

// routes hangs every door behind the guard.
func (a *App) routes() (*doors, error) {
	host, _, err := net.SplitHostPort(a.cfg.Listen)
	if err != nil {
		return nil, err
	}
	g := a.guard(host)
	gate, err := a.newGateway()
	if err != nil {
		return nil, err
	}
	chat, err := a.newChat()
	if err != nil {
		return nil, err
	}
	aggregate, err := a.newAggregate()
	if err != nil {
		return nil, err
	}
	health := admin.Health{Draining: a.draining.Load, Servers: a.serverStates, Store: a.storeState}
	mux := newRouter()
	mux.Handle("GET /healthz", g.open(health.Alive))
	mux.Handle("GET /readyz", g.open(func(w http.ResponseWriter, r *http.Request) { health.Ready(w, g.isAdmin(r)) }))
	mux.Handle("GET /metrics", g.role(plain(telemetry.Handler(a.registry)), access.RoleAdmin, access.RoleMetrics))
	mux.Handle("GET "+auth.MetadataPath, g.open(a.auth.ServeMetadata))
	mux.Handle("GET "+auth.MetadataPath+"/", g.open(a.auth.ServeMetadata))
	mux.Handle("/api/mcp-gateway/{server}/rpc", g.shut(rpchttp.Refuse, gate.Serve))
	d := &doors{mux: mux, aggregate: aggregate, mcp: a.hangAggregate(mux, g, aggregate)}
	control, err := a.newControl(d.mcp.Sessions)
	if err != nil {
		return nil, err
	}
	hangControl(mux, g, control)
	hangChat(mux, g, chat)
	if a.servers.pruner != nil {
		hangPruner(mux, g, a.servers.pruner)
	}
	mux.Handle("/", g.open(notFound("POST /mcp, POST /mcp/{server}, POST /api/mcp-gateway/{server}/rpc, POST /v1/chat/completions, "+
		"GET /v1/models, POST /rpc, GET /health, GET /healthz, GET /readyz, GET /metrics and GET /api/v1/openapi.json")))
	return d, nil
}

// router is a ServeMux that can list its routes.
type router struct {
	*http.ServeMux
	patterns []string
}

func newRouter() *router { return &router{ServeMux: http.NewServeMux()} }

// Handle hangs a route.
func (r *router) Handle(pattern string, h http.Handler) {
	r.patterns = append(r.patterns, pattern)
	r.ServeMux.Handle(pattern, h)
}

// doors are the HTTP doors, open for connections that outlast their requests.
type doors struct {
	mux       *router
	mcp       *downstream.HTTP
	aggregate *aggregate.Server
}

func (a *App) newGateway() (*gateway.Gateway, error) {
	masker, err := mask.New(a.cfg.ObservationMasking.Gateway)
	if err != nil {
		return nil, fmt.Errorf("observation_masking.gateway: %w", err)
	}
	return gateway.New(gateway.Options{
		Servers:         a.servers.Shared,
		IDs:             a.servers.sortedIDs,
		IsDisabled:      a.servers.IsDisabled,
		Masker:          masker,
		Originals:       a.store,
		Admission:       a.admission,
		MaxMessageBytes: a.cfg.MaxMessageBytes,
		Metrics:         a.registry,
		Log:             a.log,
	})
}

// guard is the one for a listener on this host.
func (a *App) guard(host string) guard {
	return guard{
		policy:    access.Policy{Listen: host, Hosts: a.cfg.AllowedHosts, Origins: a.cfg.AllowedOrigins},
		auth:      a.auth,
		admission: a.admission,
		budget:    a.budget,
		log:       a.log,
		guesses:   newGuesses(),
		rates:     a.rates,
	}
}

// plain is a door that does not care who its caller is.
func plain(h http.Handler) door {
	return func(w http.ResponseWriter, r *http.Request, _ *access.Principal) { h.ServeHTTP(w, r) }
}

// notFound lists the endpoints there are.
func notFound(doors string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such endpoint: "+r.Method+" "+r.URL.Path+"; available are "+doors, http.StatusNotFound)
	}
}

// listen takes an address, or says what to do about one that cannot be had.
func listen(ctx context.Context, addr, choice string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
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
