package aggregate

import (
	"context"

	"secateur/internal/access"
	"secateur/internal/downstream"
	"secateur/internal/rpc"
	"secateur/internal/rpchttp"
)

// Admission: who sends a message, as its header or params.proxy.authToken tell, and whether the rate limit lets it pass.
// The verdict on the header is downstream's, on the body it is this file's.

// admit finds out who sends a request, in its headers or its body, and whether it is one too many. The request is
// returned without the token.
func (s *clientConn) admit(ctx context.Context, req *rpc.Message, x downstream.Exchange) (_ *rpc.Message, p *access.Principal, failed *failure) {
	req, p, v := s.identify(ctx, req, x)
	if p == nil {
		return req, nil, unauthorized(v)
	}
	if owner := s.Principal(); owner != nil && !owner.Is(p) {
		return req, nil, unknownSession()
	}
	if !rpchttp.Counts(req.Method) {
		return req, p, nil
	}
	if wait, ok := s.opt.Limit.Allow(p.Key()); !ok {
		return req, nil, rateLimited(wait)
	}
	return req, p, nil
}

// admitNotice is admit for what gets no answer. Notifications mostly have no place for a token, so that the one their
// session was opened with counts for them.
func (s *clientConn) admitNotice(ctx context.Context, n *rpc.Message, x downstream.Exchange) (*rpc.Message, bool) {
	n, p, _ := s.identify(ctx, n, x)
	owner := s.Principal()
	if p == nil {
		return n, owner != nil
	}
	return n, owner == nil || owner.Is(p)
}

// identify says who sends a message. What came with the request decides, but for a certificate, which belongs to the connection.
func (s *clientConn) identify(ctx context.Context, m *rpc.Message, x downstream.Exchange) (*rpc.Message, *access.Principal, access.Verdict) {
	p := x.Principal()
	token, given := m.ProxyToken()
	if !given {
		return m, p, access.Verdict{Cause: access.CauseMissing}
	}
	bare := m.WithoutProxyToken()
	if p != nil && p.Issuer != access.IssuerMTLS {
		return &bare, p, access.Verdict{}
	}
	p, v := s.opt.Authenticate(ctx, token)
	if p != nil {
		s.told.CompareAndSwap(nil, p)
	}
	return &bare, p, v
}
