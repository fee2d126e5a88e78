package auth

import (
	"context"
	"sync"
	"time"

	"secateur/internal/access"
)

// held are the requests under way whose tokens may be revoked.
type held struct {
	mu   sync.Mutex // guards the field below
	open map[*hold]struct{}
}

type hold struct {
	principal *access.Principal
	cancel    context.CancelFunc
}

// Hold gives a context for work on behalf of a principal that ends when its token is revoked, or what it has shown expires: a JWT, a token,
// a certificate. The caller calls release when the work is over.
func (a *Authenticator) Hold(ctx context.Context, p *access.Principal) (_ context.Context, release func()) {
	revocable := p != nil && p.Issuer == access.IssuerToken && a.filed.Load()
	if p == nil || !revocable && p.Expires == 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx) // no deadline: its end is nobody's slowness
	if p.Expires != 0 {
		expire := time.AfterFunc(time.Until(time.Unix(p.Expires, 0)), cancel)
		stop := cancel
		cancel = func() {
			expire.Stop()
			stop()
		}
	}
	if !revocable {
		return ctx, cancel
	}
	h := &hold{p, cancel}
	a.held.mu.Lock()
	if a.held.open == nil {
		a.held.open = map[*hold]struct{}{}
	}
	a.held.open[h] = struct{}{}
	a.held.mu.Unlock()
	return ctx, func() {
		cancel()
		a.held.mu.Lock()
		delete(a.held.open, h)
		a.held.mu.Unlock()
	}
}

// end cancels the work of those who are no longer good.
func (s *held) end(stillGood func(*access.Principal) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := map[*access.Principal]bool{}
	for h := range s.open {
		ok, known := good[h.principal]
		if !known {
			ok = stillGood(h.principal)
			good[h.principal] = ok
		}
		if !ok {
			h.cancel()
		}
	}
}
