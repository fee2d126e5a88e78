package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"

	"secateur/internal/access"
	"secateur/internal/admission"
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
	if err != nil {
		return err
	}
	return a.openAdmission()
}

// openAdmission builds what decides what callers may do.
func (a *App) openAdmission() error {
	rules, err := access.NewRules(a.cfg.ACL, a.cfg.Auth.Default == access.ActionDeny)
	if err != nil {
		return fmt.Errorf("acl: %w", err)
	}
	var audit admission.Audit
	path, toFile := strings.CutPrefix(a.cfg.Auth.Audit, "file:")
	switch {
	case toFile:
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.opt.Config.Dir(), path)
		}
		file, err := admission.OpenFileAudit(path, a.log)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, file)
		audit = file
	case a.cfg.Auth.Audit == auth.AuditLog && (rules != nil || a.auth.Asks()): // with nothing to decide there is nothing to write
		audit = admission.LogAudit{Log: a.log}
	}
	a.admission, err = admission.New(admission.Options{
		Rules: rules, PerMinute: a.cfg.RateLimitPerMinute, Limits: a.cfg.Limits, Explain: a.cfg.Auth.Explain, Audit: audit, Metrics: a.registry,
	})
	return err
}

// minToken is how many characters a token needs that other machines can try out.
const minToken = 16

// checkListen refuses an address that other machines reach where nothing controls access.
func (a *App) checkListen(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if token := a.cfg.AuthToken; !access.IsLoopback(host) && !token.IsZero() && len(token.Reveal()) < minToken {
		return fmt.Errorf("listen on %s: reachable from other machines, and auth_token has fewer than %d characters, which can be guessed; "+
			"make one with 'secateur token new', or listen on 127.0.0.1", addr, minToken)
	}
	if !access.IsLoopback(host) && !a.auth.Asks() {
		return fmt.Errorf("listen on %s: reachable from other machines, and nothing controls access; "+
			"set auth_token, make a token with 'secateur token new', or listen on 127.0.0.1", addr)
	}
	return nil
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
