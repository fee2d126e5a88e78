package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/auth"
)

// openAuth builds what finds out who is calling.
func (a *App) openAuth() error {
	scheme := "http"
	if a.cfg.TLS.Cert != "" {
		scheme = "https"
		var err error
		if a.certificates, err = auth.LoadCertificates(a.cfg.TLS.In(a.opt.Config.Dir()), func(err error) {
			a.log.ErrorContext(context.Background(), "certificates cannot be read, so those read before serve on", "err", err)
		}); err != nil {
			return err
		}
	}
	var err error
	a.auth, err = auth.New(auth.Options{
		Settings: a.cfg.Auth, Token: a.cfg.AuthToken, StateDir: a.opt.StateDir, PublicURL: scheme + "://" + a.cfg.Listen,
		Certificates: a.certificates, Log: a.log,
	})
	return err
}

// checkListen refuses an address that other machines reach where nothing controls access.
func (a *App) checkListen(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if !access.IsLoopback(host) && !a.auth.Asks() {
		return fmt.Errorf("listen on %s: reachable from other machines, and nothing controls access; "+
			"set auth_token, make a token with 'secateur token new', or listen on 127.0.0.1", addr)
	}
	return nil
}

// whoami tells callers who they are taken for.
func whoami(w http.ResponseWriter, _ *http.Request, p *access.Principal) {
	roles := p.Roles
	if roles == nil {
		roles = []string{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(struct { // a client that went away has no use for an error
		Issuer  string   `json:"issuer"`
		Subject string   `json:"subject"`
		Tenant  string   `json:"tenant"`
		Roles   []string `json:"roles"`
	}{p.Issuer, p.Subject, p.Tenant, roles})
}

// serveOn answers HTTP on a listener, over TLS where that is configured.
func (a *App) serveOn(web *http.Server, ln net.Listener) error {
	err := error(nil)
	if a.certificates != nil {
		web.TLSConfig = a.certificates.Config()
		err = web.ServeTLS(ln, "", "")
	} else {
		err = web.Serve(ln)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
