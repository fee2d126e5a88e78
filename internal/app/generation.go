package app

import (
	"net/http"

	"secateur/internal/access/admission"
	"secateur/internal/access/auth"
	"secateur/internal/config"
	"secateur/internal/llm/hook"
	"secateur/internal/llm/proxy"
	"secateur/internal/mcp/gateway"
	"secateur/internal/prune/pruner"
)

// generation is built from one configuration and holds everything that a reload replaces. Once live
// it does not change. A request is served by the generation that was live when it came.
type generation struct {
	*App // survives reloads: the store, the servers, the sessions

	cfg        config.Settings // App.cfg has the settings at start
	auth       *auth.Authenticator
	admission  *admission.Control // shared by all doors
	pruner     *pruner.Server     // nil: not enabled
	lastPruner *pruner.Server     // the newest there was; nil: none yet
	gateway    *gateway.Gateway   // nil: there is no listener
	chat       *proxy.Proxy       // the same
	hook       *hook.Server       // the same
	handler    http.Handler       // every HTTP door behind its guard; the same

	records      proxy.Records      // records of requests that the chat door has sent
	forgetful    bool               // records do not outlive this process
	certificates *auth.Certificates // nil: no TLS

	hosts  bool      // we serve our own resource templates
	audit  fileAudit // the audit file, if one is configured
	scorer scorer    // used by the pruner
}

// newGeneration builds the parts for a configuration but starts nothing. before is the generation
// it replaces; nil for the first.
func (a *App) newGeneration(cfg config.Settings, before *generation) (*generation, error) {
	cfg.Listen, cfg.Store = a.cfg.Listen, a.cfg.Store // both change only with a restart
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
	// The listener stays, so it may still need a credential.
	if err := gen.checkListen(cfg.Listen); err != nil {
		return nil, err
	}
	return gen, gen.hang(before)
}

// hang makes the handler of all HTTP doors.
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

// authenticator returns the live authenticator.
func (a *App) authenticator() *auth.Authenticator { return a.live.Load().auth }

// ServeHTTP serves a request with the generation that is live when it comes.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.leave(w)
	a.live.Load().handler.ServeHTTP(w, r)
}
