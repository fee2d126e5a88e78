package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/auth"
)

// explainAccess says whether a caller may have something, and why.
func explainAccess(w world, file string, args []string, asJSON bool) error {
	if len(args) != 2 {
		return usage("--explain needs a PRINCIPAL and a TARGET")
	}
	cfg, err := w.usable(file, "", orWorkingDir)
	if err != nil {
		return err
	}
	filed, err := auth.TokenFileOf(cfg.Auth, w.stateDir).Read()
	if err != nil {
		return err
	}
	p, err := auth.Named(cfg.Auth, filed, args[0])
	if err != nil {
		return err
	}
	t, ok := access.ParseTarget(args[1])
	if !ok {
		return usage("%q is no target: write server::tool, prompt:NAME, resource:URI, model:NAME or route:PATH", args[1])
	}
	rules, err := access.NewRules(cfg.ACL, cfg.Auth.Default == access.ActionDeny)
	if err != nil {
		return err
	}
	out := rules.Explain(p, t)
	out.Principal = args[0]
	if asJSON {
		return json.NewEncoder(w.out).Encode(out)
	}
	by := "the default"
	if out.Rule != nil {
		by = "rule " + *out.Rule
	}
	verb := "may have"
	if out.Decision == access.ActionDeny {
		verb = "may not have"
	}
	fmt.Fprintf(w.out, "%s: %s %s %s, by %s\n", out.Decision, who(p), verb, out.Target, by)
	for _, r := range out.Rules {
		fmt.Fprintf(w.out, "  %s: %s\n", r.Rule, r.Because)
	}
	return nil
}

func who(p *access.Principal) string {
	roles := "no role"
	if len(p.Roles) > 0 {
		roles = "roles " + strings.Join(p.Roles, ", ")
	}
	return fmt.Sprintf("%s (tenant %s, %s)", p.Subject, p.Tenant, roles)
}
