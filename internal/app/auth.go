package app

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// loadCertificates reads the listener's TLS certificates, or keeps those of the last generation if
// unchanged.
func (gen *generation) loadCertificates(before *generation) (err error) {
	switch {
	case gen.cfg.TLS.Cert == "":
		return nil
	case before.certificates != nil && before.cfg.TLS == gen.cfg.TLS:
		gen.certificates = before.certificates
		return nil
	}
	gen.certificates, err = auth.LoadCertificates(gen.cfg.TLS.In(gen.opt.Config.Dir()), func(err error) {
		gen.log.ErrorContext(context.Background(), "certificates cannot be read, so those read before serve on", "err", err)
	})
	return err
}

// openAuth builds the authenticator.
func (gen *generation) openAuth(before *generation) (err error) {
	scheme := "http"
	if gen.certificates != nil {
		scheme = "https"
	}
	gen.auth, err = auth.New(auth.Options{
		Settings: gen.cfg.Auth, Token: gen.cfg.AuthToken, StateDir: gen.opt.StateDir, PublicURL: scheme + "://" + gen.App.cfg.Listen,
		Certificates: gen.certificates, Redis: gen.redis, Log: gen.log, Replaces: before.auth,
	})
	return err
}

// fileAudit is an audit log in a file. It stays open while the program runs, since requests of an
// earlier configuration may still write to it.
type fileAudit struct {
	path string
	*admission.FileAudit
}

// openAudit opens the audit file, or keeps the open one.
func (gen *generation) openAudit(path string, before *generation) (admission.Audit, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(gen.opt.Config.Dir(), path)
	}
	if before.audit.FileAudit != nil && before.audit.path == path {
		gen.audit = before.audit
		return gen.audit, nil
	}
	file, err := admission.OpenFileAudit(path, gen.log)
	if err != nil {
		return nil, err
	}
	gen.audit = fileAudit{path, file}
	gen.closers = append(gen.closers, file)
	return file, nil
}

// openAdmission builds the access control of all doors.
func (gen *generation) openAdmission(before *generation) error {
	rules, err := access.NewRules(gen.cfg.ACL, gen.cfg.Auth.Default == access.ActionDeny)
	if err != nil {
		return fmt.Errorf("acl: %w", err)
	}
	var audit admission.Audit
	path, toFile := strings.CutPrefix(gen.cfg.Auth.Audit, "file:")
	switch {
	case toFile:
		if audit, err = gen.openAudit(path, before); err != nil {
			return err
		}
	// Nothing to decide means nothing to audit.
	case gen.cfg.Auth.Audit == auth.AuditLog && (rules != nil || gen.auth.Asks()):
		audit = admission.LogAudit{Log: gen.log}
	}
	var shared limit.Store
	if gen.redis != nil {
		shared = gen.limitStore
	}
	gen.admission, err = admission.New(admission.Options{
		Rules: rules, PerMinute: gen.cfg.RateLimitPerMinute, Limits: gen.cfg.Limits, Explain: gen.cfg.Auth.Explain, Audit: audit, Metrics: gen.registry,
		Held: gen.held(), Off: gen.off(), Instructions: gen.heldInstructions, HasTool: gen.hasTool, LastListed: gen.lastListed,
		Listed: func(ctx context.Context, server string, l catalog.List, page [][]byte) {
			gen.see(ctx, server, l, page, false)
		},
		BudgetFile: gen.stateFile("budgets.json"), Store: shared, Events: gen.feed, Log: gen.log, Replaces: before.admission,
	})
	return err
}

// off reports the tools that the configuration switches off; nil where it has none.
func (gen *generation) off() func(server, tool string) bool {
	choosy := map[string]upstream.Settings{}
	for _, s := range gen.cfg.Servers {
		if len(s.Tools)+len(s.ExcludeTools) > 0 {
			choosy[s.ID] = s
		}
	}
	if len(choosy) == 0 {
		return nil
	}
	return func(server, tool string) bool {
		s, ok := choosy[server]
		return ok && !s.Offers(tool)
	}
}

// hasTool reports whether a server lists a tool. The pruner alone has no servers to ask.
func (a *App) hasTool(server, tool string) bool {
	return a.servers == nil || a.tools.Label(server, tool) == tool || a.servers.HasTool(server, tool)
}

// lastListed returns a server's lists as last known.
func (a *App) lastListed(server string) (lists catalog.ServerLists, whole bool) {
	if a.servers == nil {
		return lists, false
	}
	return a.servers.LastListed(server)
}

// stateFile returns the path of a file in the state directory; "": no state directory.
func (a *App) stateFile(name string) string {
	if a.opt.StateDir == "" {
		return ""
	}
	return filepath.Join(a.opt.StateDir, name)
}

// minToken is the least length of a token on a listener that other machines reach.
const minToken = 16

// checkListen refuses an address that other machines reach without access control.
func (gen *generation) checkListen(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if token := gen.cfg.AuthToken; !access.IsLoopback(host) && !token.IsZero() && len(token.Reveal()) < minToken {
		return fmt.Errorf("listen on %s: reachable from other machines, and auth_token has fewer than %d characters, which can be guessed; "+
			"make one with 'secateur token new', or listen on 127.0.0.1", addr, minToken)
	}
	if !access.IsLoopback(host) && !gen.auth.Asks() {
		return fmt.Errorf("listen on %s: reachable from other machines, and nothing controls access; "+
			"set auth_token, make a token with 'secateur token new', or listen on 127.0.0.1", addr)
	}
	return nil
}
