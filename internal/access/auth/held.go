package auth

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"secateur/internal/access"
)

// held tracks running requests, so that each ends when its caller's credential becomes invalid.
type held struct {
	mu   sync.Mutex // guards the field below
	open map[*hold]struct{}
}

// owner identifies whose credential a request depends on.
type owner struct {
	principal *access.Principal
	jwt       *jwtVerifier         // the verifier when the work began; nil: none
	conn      *tls.ConnectionState // the connection of the request; nil: no TLS, or irrelevant
}

// Hold returns a context for work on behalf of a principal. The context ends when the credential
// (JWT, token, certificate of conn) is revoked or expires. The caller calls release after the work.
func (a *Authenticator) Hold(ctx context.Context, p *access.Principal, conn *tls.ConnectionState) (_ context.Context, release func()) {
	if p == nil {
		return ctx, func() {}
	}
	h := &hold{Context: ctx, owner: owner{p, a.jwt, conn}, in: a.held}
	if p.Expires != 0 {
		h.expiry = time.AfterFunc(time.Until(time.Unix(p.Expires, 0)), h.end)
	}
	a.held.mu.Lock()
	if a.held.open == nil {
		a.held.open = map[*hold]struct{}{}
	}
	a.held.open[h] = struct{}{}
	a.held.mu.Unlock()
	return h, h.release
}

// HoldAgain is Hold for a caller who was authenticated earlier: a credential in a message also
// counts for its session's streams. If the credential is no longer valid, the context is already
// done.
func (a *Authenticator) HoldAgain(ctx context.Context, p *access.Principal) (_ context.Context, release func()) {
	ctx, release = a.Hold(ctx, p, nil)
	if p != nil && !a.IsGood(p) {
		release()
	}
	return ctx, release
}

// IsGood reports whether the credential of an earlier message would be accepted now. Such a
// credential also counts for the streams and the end of its session.
func (a *Authenticator) IsGood(p *access.Principal) bool {
	if p.Expires != 0 && time.Now().Unix() >= p.Expires {
		return false
	}
	switch p.Issuer {
	case access.IssuerNone:
		return !a.Asks()
	case access.IssuerToken:
		return a.stillGood(owner{principal: p})
	default:
		return a.jwt != nil && a.jwt.set.Issuer == p.Issuer
	}
}

// end cancels the work of owners whose credential is no longer valid.
func (s *held) end(stillGood func(owner) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := map[owner]bool{}
	for h := range s.open {
		ok, known := good[h.owner]
		if !known {
			ok = stillGood(h.owner)
			good[h.owner] = ok
		}
		if !ok {
			h.end()
		}
	}
}
