package app

import (
	"secateur/internal/access"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/capture"
)

// recorder captures the contents of requests if the configuration asks for it. The redactions of
// all rules apply, for any caller. Keys and tokens of the configuration are removed wherever they
// appear.
func (gen *generation) recorder() (*capture.Recorder, error) {
	if gen.cfg.Admin.Capture.Bytes == 0 {
		gen.captured.Clear()
	}
	var known capture.Secrets
	for _, rule := range gen.cfg.ACL {
		if rule.Action == access.ActionRedact {
			known.Fields, known.Patterns = append(known.Fields, rule.Fields...), append(known.Patterns, rule.Patterns...)
		}
	}
	known.Values = append(known.Values, gen.cfg.AuthToken.Reveal())
	for _, p := range gen.cfg.Providers {
		known.Values = append(known.Values, p.APIKey.Reveal())
	}
	for _, s := range gen.cfg.Servers {
		for _, v := range s.Env {
			known.Values = append(known.Values, v.Reveal())
		}
		for _, v := range s.Headers {
			known.Values = append(known.Values, v.Reveal())
		}
	}
	return capture.New(gen.cfg.Admin.Capture, known, &gen.captured)
}

// capturedOf returns the capture of a request, for a caller of the same tenant.
func (a *App) capturedOf(p *access.Principal, request string) admin.Captured {
	out := admin.Captured{Enabled: a.live.Load().cfg.Admin.Capture.Bytes > 0}
	if e, ok := a.captured.Find(p.Owner(), request); ok && out.Enabled {
		out.ExpiresAt, out.Request, out.Answer = &e.ExpiresAt, (*admin.Payload)(&e.Request), (*admin.Payload)(&e.Answer)
	}
	return out
}
