package auth

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"secateur/internal/access"
)

// held are the requests under way, each of which ends when what its caller has shown is good no more.
type held struct {
	mu   sync.Mutex // guards the field below
	open map[*hold]struct{}
}

// owner is whose work it is.
type owner struct {
	principal *access.Principal
	jwt       *jwtVerifier         // that was there when the work began; nil: none
	conn      *tls.ConnectionState // that the work came over; nil: no TLS, or it does not count
}

// Hold gives a context for work on behalf of a principal that ends when its credential is revoked, or what it has shown expires: a JWT, a
// token, a certificate, which is that of conn. The caller calls release when the work is over.
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

// HoldAgain is Hold for who was let in earlier: what a message showed counts for its session's streams too. Where that is good no more
// the work has ended before it begins.
func (a *Authenticator) HoldAgain(ctx context.Context, p *access.Principal) (_ context.Context, release func()) {
	ctx, release = a.Hold(ctx, p, nil)
	if p != nil && !a.IsGood(p) {
		release()
	}
	return ctx, release
}

// IsGood reports whether what a message has shown would let its sender in now: it counts for the streams and the end of its session too.
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

// end cancels the work of those who are no longer good.
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
