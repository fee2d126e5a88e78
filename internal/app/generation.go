package app

import (
	"net/http"

	"secateur/internal/access/admission"
	"secateur/internal/access/auth"
	"secateur/internal/config"
	"secateur/internal/llm/proxy"
	"secateur/internal/mcp/gateway"
	"secateur/internal/prune/pruner"
)

// generation is what the program makes of one configuration: all that a reload replaces. Once it is live it does not change. A request is
// served by the generation that it met when it came.
type generation struct {
	*App // what outlives reloads: the store, the servers, the sessions

	cfg        config.Settings // the App's own is the one that it was started with
	auth       *auth.Authenticator
	admission  *admission.Control // one for all doors
	pruner     *pruner.Server     // nil: not enabled
	lastPruner *pruner.Server     // the newest there was; nil: none yet
	gateway    *gateway.Gateway   // nil: there is no listener
	chat       *proxy.Proxy       // the same
	handler    http.Handler       // every HTTP door behind its guard; the same

	records      proxy.Records      // what the chat door has sent before
	forgetful    bool               // records do not outlive this process
	certificates *auth.Certificates // nil: no TLS

	hosts  bool      // there are resource templates of our own
	audit  fileAudit // where decisions are written to a file of their own
	scorer scorer    // what the pruner asks
}

// newGeneration builds what a configuration asks for and starts nothing; before is the one whose place it takes, nil for the first.
func (a *App) newGeneration(cfg config.Settings, before *generation) (*generation, error) {
	cfg.Listen, cfg.Store = a.cfg.Listen, a.cfg.Store // they wait for a restart
	gen := &generation{App: a, cfg: cfg, hosts: a.templates.Len() > 0}
	if before == nil {
		before = &generation{}
	}
	for _, open := range []func(before *generation) error{gen.loadCertificates, gen.openAuth, gen.openAdmission, gen.openPruner} {
		if err := open(before); err != nil {
			return nil, err
		}
	}
	if before.handler == nil {
		return gen, nil
	}
	if err := gen.checkListen(cfg.Listen); err != nil { // the listener stays, also where it needs a credential that has gone
		return nil, err
	}
	return gen, gen.hang(before)
}

// hang makes the handler of every HTTP door.
func (gen *generation) hang(before *generation) error {
	mux, err := gen.routes(before)
	if err != nil {
		return err
	}
	gen.handler = gen.withCORS(mux)
	return nil
}

// withCORS lets web pages of the configured origins in.
func (gen *generation) withCORS(h http.Handler) http.Handler {
	if len(gen.cfg.AllowedOrigins) == 0 {
		return h
	}
	return cors{gen.cfg.AllowedOrigins, h}
}

// authenticator is the present one.
func (a *App) authenticator() *auth.Authenticator { return a.live.Load().auth }

// ServeHTTP has a request served by the generation that is live when it comes.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.leave(w)
	a.live.Load().handler.ServeHTTP(w, r)
}
