package aggregate

import (
	"context"
	"errors"
	"slices"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// Admission: who sends a message, as its header or params.proxy.authToken tell, and whether the rate limit lets it pass.
// The verdict on the header is downstream's, on the body it is this file's.

// admit finds out who sends a request, in its headers or its body, and whether it is one too many. The request is
// returned without the token.
func (s *clientConn) admit(ctx context.Context, now *live, req *wire.Message, x downstream.Exchange) (*wire.Message, admitted, *failure) {
	req, p, v := s.identify(ctx, now, req, x)
	if p == nil {
		now.Admission.Unauthorized(ctx, access.DoorMCP, string(v.Cause))
		return req, admitted{}, unauthorized(v)
	}
	if owner := s.Principal(); owner != nil && !owner.Is(p) {
		return req, admitted{}, unknownSession()
	}
	if s.only != "" && (s.missing || !now.Admission.Sees(p, access.DoorMCP, s.only)) {
		return req, admitted{}, s.noServer(ctx, now, p, req.Method)
	}
	if !rpchttp.Counts(req.Method) || isForwarded(x) { // what is forwarded was counted where it came in
		return req, admitted{principal: p}, nil
	}
	entry, over := now.Admission.Enter(ctx, p, access.DoorMCP)
	if over != nil {
		return req, admitted{}, refusedBy(over)
	}
	return req, admitted{p, entry}, nil
}

// admitted is who sends a request that is not one too many.
type admitted struct {
	principal *access.Principal
	admission.Entry
}

// refusedBy is a refusal of access control.
func refusedBy(no *admission.Refusal) *failure {
	if no == nil {
		return nil
	}
	e, status, header := no.Error()
	return &failure{err: e, status: status, header: header}
}

// noServer is the one server of a door, for a caller who does not see it, or where there is none.
func (s *clientConn) noServer(ctx context.Context, now *live, p *access.Principal, method string) *failure {
	if !s.missing {
		if no := now.Admission.Unseen(ctx, p, access.Target{Door: access.DoorMCP, Server: s.only}, method); no.Rule != "" {
			return refusedBy(no)
		}
	}
	f := rpchttp.UnknownServer(s.only, s.IsDisabled(p, s.only), s.Known(p))
	return &failure{err: f.Err, status: f.Status}
}

// mayHave decides about what a request names, by its resolved names. Where it names nothing the caller has to see the server.
func (s *clientConn) mayHave(ctx context.Context, c *client, a request, server string, targets []access.Target) (admission.Permit, *failure) {
	if targets == nil {
		whole := access.Target{Door: access.DoorMCP, Server: server}
		if !a.now.Admission.Sees(a.principal, access.DoorMCP, server) {
			return admission.Permit{}, a.refusedBy(a.now.Admission.Unseen(ctx, a.principal, whole, a.Method))
		}
		permit, no := a.now.Admission.AskSeen(ctx, a.principal, a.Method, whole)
		return permit, a.refusedBy(no)
	}
	permit, no := a.now.Admission.AskListed(ctx, a.principal, a.Method, c.member, targets...)
	return permit, a.refusedBy(no)
}

// refusedBy is a refusal of access control. What is hidden answers in the very words that a name gets which nobody has.
func (a request) refusedBy(no *admission.Refusal) *failure {
	if no == nil || !no.Hides() {
		return refusedBy(no)
	}
	if unknown := catalog.Unknown(a.Method, a.Params); unknown != nil {
		return paramsFailed(unknown)
	}
	return unknownMethod(a.Method)
}

// absent is the answer of a server that has no such thing, in the words of a refusal; nil where it may pass as it is.
func (c *client) absent(ctx context.Context, a request, names []access.Target, answer *wire.Message) *failure {
	no := a.permit.Absent(answer, names, func(t access.Target) bool {
		lists, _ := c.member.Catalog(ctx)
		return admission.Listed(lists, t)
	})
	if no == nil {
		return nil
	}
	f := a.refusedBy(no)
	f.hidden = true
	return f
}

// unambiguous leaves out of an error the servers of which the caller may not know that they have what was asked for.
func (a request) unambiguous(err error) error {
	bad, ok := errors.AsType[*catalog.ParamsError](err)
	if !ok || len(bad.Servers) < 2 || !a.now.Admission.Filters() {
		return err
	}
	l, asked := a.asksFor()
	if slices.ContainsFunc(bad.Servers, func(id string) bool { return !a.lists(l, id, asked) }) {
		return catalog.Unknown(a.Method, a.Params)
	}
	return err
}

// asksFor is what a request names, by the client's name for it.
func (a request) asksFor() (catalog.List, string) {
	switch a.Method {
	case "tools/call":
		return catalog.Tools, a.Name
	case "prompts/get":
		return catalog.Prompts, a.Name
	case "completion/complete":
		ref := rawjson.Get(a.Params, "ref")
		if name := rawjson.GetText(ref, "name"); name != "" {
			return catalog.Prompts, name
		}
		return catalog.Resources, rawjson.GetText(ref, "uri")
	default:
		return catalog.Resources, a.URI
	}
}

// sees reports whether the session's client may have anything of a server.
func (s *clientConn) sees(server string) bool {
	return s.now.Load().Admission.Sees(s.Principal(), access.DoorMCP, server)
}

// lists reports whether the client may see a thing of a list.
func (a request) lists(l catalog.List, server, original string) bool {
	return a.now.Admission.ListsItem(a.principal, access.DoorMCP, server, l, original)
}

// admitNotice is admit for what gets no answer. Notifications mostly have no place for a token, so that the one their
// session was opened with counts for them.
func (s *clientConn) admitNotice(ctx context.Context, n *wire.Message, x downstream.Exchange) (*wire.Message, *access.Principal) {
	n, p, _ := s.identify(ctx, s.now.Load(), n, x)
	switch owner := s.Principal(); {
	case p == nil:
		return n, owner
	case owner != nil && !owner.Is(p):
		return n, nil
	}
	return n, p
}

// identify says who sends a message. What came with the request decides, but for a certificate, which belongs to the connection.
func (s *clientConn) identify(ctx context.Context, now *live, m *wire.Message, x downstream.Exchange) (*wire.Message, *access.Principal, access.Verdict) {
	p := x.Principal()
	token, given := m.ProxyToken()
	path := "/mcp"
	if s.only != "" {
		path += "/" + s.only
	}
	if !given && p == nil {
		_, v := now.Authenticate(ctx, "", path) // for its challenge
		return m, nil, access.Verdict{Cause: access.CauseMissing, Challenge: v.Challenge}
	}
	if !given {
		return m, p, access.Verdict{}
	}
	bare := m.WithoutProxyToken()
	if p != nil && p.Issuer != access.IssuerMTLS {
		return &bare, p, access.Verdict{}
	}
	p, v := now.Authenticate(ctx, token, path)
	if p != nil && !s.openerDecides() {
		s.told.CompareAndSwap(nil, p)
	}
	return &bare, p, v
}
