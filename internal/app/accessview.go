package app

import (
	"context"
	"net/http"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/access/pins"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/replica"
)

// accessSettings returns the rules and limits of the live configuration.
func (a *App) accessSettings() admin.AccessSettings {
	gen := a.live.Load()
	out := admin.AccessSettings{
		Asks: gen.auth.Asks(), Default: gen.cfg.Auth.Default, Audit: gen.cfg.Auth.Audit, Pins: gen.cfg.Pins.Mode,
		Rules: []admin.AccessRule{}, Limits: []admin.Limit{},
	}
	for i, r := range gen.cfg.ACL {
		out.Rules = append(out.Rules, admin.AccessRule{
			Name: access.RuleName(r, i), Action: r.Action, Tenant: list(r.Tenant), Role: list(r.Role), Subject: list(r.Subject), Door: list(r.Door),
			Server: list(r.Server), Tool: list(r.Tool), Prompt: list(r.Prompt), Resource: list(r.Resource), Model: list(r.Model), Route: list(r.Route),
			Fields: list(r.Fields), Patterns: list(r.Patterns), In: list(r.In),
		})
	}
	for i, l := range gen.cfg.Limits {
		out.Limits = append(out.Limits, admin.Limit{
			Name: limit.SettingsName(l, i), By: list(l.By), Rate: rateText(l.Rate), Burst: l.Burst, Concurrent: l.Concurrent, Queue: l.Queue,
			TokensPerDay: l.TokensPerDay, USDPerDay: l.USDPerDay, Shared: l.Shared,
		})
	}
	return out
}

// rateText returns a rate in configuration syntax; "": none.
func rateText(r limit.Rate) string {
	if r == (limit.Rate{}) {
		return ""
	}
	return r.String()
}

// namedTokens returns the accepted credentials by name.
func (a *App) namedTokens() ([]admin.NamedToken, error) {
	cfg := a.live.Load().cfg
	all := []admin.NamedToken{}
	add := func(kept, name, tenant string, roles []string, expires time.Time) {
		t := admin.NamedToken{Name: name, Tenant: tenant, Roles: list(roles), Kept: kept}
		if tenant == "" {
			t.Tenant = access.DefaultTenant
		}
		if !expires.IsZero() {
			t.Expires = &expires
		}
		all = append(all, t)
	}
	if !cfg.AuthToken.IsZero() {
		p := access.TokenHolder()
		add("auth_token", p.Subject, p.Tenant, p.Roles, time.Time{})
	}
	filed, err := auth.TokenFileOf(cfg.Auth, a.opt.StateDir).Read()
	if err != nil {
		return nil, err
	}
	for _, t := range filed {
		add("file", t.Name, t.Tenant, t.Roles, t.Expires)
	}
	for _, t := range cfg.Auth.Tokens {
		add("configuration", t.Name, t.Tenant, t.Roles, t.Expires)
	}
	for _, h := range cfg.Auth.HMAC {
		add("hmac", h.KeyID, h.Tenant, h.Roles, time.Time{})
	}
	for _, c := range cfg.Auth.Certificates {
		add("certificate", strings.Join(c.SAN, " or "), c.Tenant, c.Roles, time.Time{})
	}
	return all, nil
}

// controlPins returns the pinned definitions, as `secateur pins` lists them.
func (a *App) controlPins() ([]admin.Pin, error) {
	dir := a.stateFile("pins")
	if dir == "" {
		return nil, nil
	}
	found, err := pins.List(dir)
	all := make([]admin.Pin, len(found))
	for i, p := range found {
		all[i] = admin.Pin{Server: p.Server, Kind: string(p.Kind), Tool: p.Tool, State: p.State, Diff: p.Diff, Findings: []string{}, Found: []admin.Found{}, Approved: p.Approved}
		for _, f := range p.Findings {
			all[i].Findings = append(all[i].Findings, string(f))
		}
		for _, f := range p.Found {
			all[i].Found = append(all[i].Found, admin.Found{Finding: string(f.Finding), Words: f.Words})
		}
	}
	return all, err
}

// approvePins pins the tools' current definitions, as `secateur pins approve` does. The running
// program picks them up from the file.
func (a *App) approvePins(_ context.Context, server, tool string) ([]string, error) {
	return a.changePins(server, tool, replica.PinsApproved, pins.Approve, pins.Approvals)
}

// revokePins takes back approvals, as `secateur pins revoke` does.
func (a *App) revokePins(_ context.Context, server, tool string) ([]string, error) {
	return a.changePins(server, tool, replica.PinsRevoked, pins.Revoke, pins.Revocations)
}

// changePins changes the pins of a server, here and at other replicas.
func (a *App) changePins(
	server, tool string, kind replica.Kind, change func(dir, server, name string) ([]string, error), digests func(dir, server string, tools []string) (map[string]string, error),
) ([]string, error) {
	dir := a.stateFile("pins")
	if dir == "" {
		return nil, admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, "there is no state directory, so nothing is pinned", "")
	}
	tools, err := change(dir, server, tool)
	if err != nil {
		return nil, admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, err.Error(), "")
	}
	if same, err := digests(dir, server, tools); err == nil && len(same) > 0 {
		a.replicas.Tell(replica.News{Kind: kind, Server: server, Tools: same})
	}
	return tools, nil
}
