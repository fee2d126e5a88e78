package aggregate

import (
	"secateur/internal/access"
	"secateur/internal/downstream"
	"secateur/internal/rpc"
	"secateur/internal/rpchttp"
)

// tokenPrincipal is who brings the shared token.
const tokenPrincipal = access.TokenHolder

// admit finds out who sends a request, in its headers or its body, and whether it is one too many. The request is
// returned without the token.
func (s *session) admit(req *rpc.Message, x downstream.Exchange) (_ *rpc.Message, principal string, failed *failure) {
	req, principal = s.identify(req, x)
	if principal == "" {
		return req, "", unauthorized()
	}
	if !rpchttp.Counts(req.Method) {
		return req, principal, nil
	}
	if wait, ok := s.opt.Limit.Allow(principal); !ok {
		return req, "", rateLimited(wait)
	}
	return req, principal, nil
}

// admitNotice is admit for what gets no answer. Notifications mostly have no place for a token, so that the one their
// session was opened with counts for them.
func (s *session) admitNotice(n *rpc.Message, x downstream.Exchange) (*rpc.Message, bool) {
	n, principal := s.identify(n, x)
	if principal == "" {
		principal = s.Principal()
	}
	return n, principal != ""
}

func (s *session) identify(m *rpc.Message, x downstream.Exchange) (*rpc.Message, string) {
	principal := x.Principal()
	token, given := m.ProxyToken()
	if !given {
		return m, principal
	}
	if principal == "" && s.opt.Token.Matches(token) {
		principal = tokenPrincipal
		s.trusted.Store(true)
	}
	bare := m.WithoutProxyToken()
	return &bare, principal
}
