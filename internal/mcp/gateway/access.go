package gateway

import (
	"context"
	"net/http"
	"slices"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// caller is the principal of a call, and its permit.
type caller struct {
	principal *access.Principal
	told      admission.Told  // rate limit headers from before the call
	targets   []access.Target // targets of the call
	permit    admission.Permit
}

// ask decides about the targets of a message. Methods about the server as such have none.
func (g *Gateway) ask(ctx context.Context, p *access.Principal, server string, req *wire.Message, targets []access.Target) (admission.Permit, *rpchttp.Failure) {
	if targets == nil && !rpchttp.Counts(req.Method) {
		return admission.Permit{}, nil
	}
	if targets == nil { // visible, and thus allowed; the server's limits apply
		permit, no := g.opt.Admission.AskSeen(ctx, p, req.Method, access.Target{Door: access.DoorGateway, Server: server})
		return permit, refusedBy(no)
	}
	permit, no := g.opt.Admission.AskListed(ctx, p, req.Method, g.opt.Lister, targets...)
	return permit, refusedBy(no)
}

// refusedBy converts a refusal of access control into this door's failure.
func refusedBy(no *admission.Refusal) *rpchttp.Failure {
	if no == nil {
		return nil
	}
	e, status, header := no.Error()
	if status == 0 {
		status = http.StatusOK // like a server's own error
	}
	return rpchttp.NewFailure(status, e, header)
}

// absent turns a server's "not found" answer into the same failure as a refusal, including headers.
// It returns nil if the answer may pass unchanged.
func (g *Gateway) absent(ctx context.Context, h http.Header, server string, reply *upstream.Reply, by caller) *rpchttp.Failure {
	no := by.permit.Absent(&reply.Message, by.targets, func(t access.Target) bool {
		return admission.Listed(g.opt.Lists(ctx, server), t)
	})
	if no == nil {
		return nil
	}
	by.told.Restore(h)
	return refusedBy(no)
}

// noServer is the failure for a server that does not exist, or not for this caller.
func (g *Gateway) noServer(r *http.Request, p *access.Principal, req *wire.Message, exists bool) *rpchttp.Failure {
	name := r.PathValue("server")
	if exists {
		no := g.opt.Admission.Unseen(r.Context(), p, access.Target{Door: access.DoorGateway, Server: name}, req.Method)
		if no.Rule != "" {
			return refusedBy(no)
		}
	}
	seen := slices.DeleteFunc(slices.Clone(g.opt.IDs()), func(id string) bool { return !g.opt.Admission.Sees(p, access.DoorGateway, id) })
	disabled := g.opt.IsDisabled != nil && g.opt.IsDisabled(name) && g.opt.Admission.Sees(p, access.DoorGateway, name)
	return rpchttp.UnknownServer(name, disabled, seen)
}

// greeting returns the result of a handshake without withheld parts; any other result unchanged.
func (g *Gateway) greeting(ctx context.Context, server string, req *wire.Message, reply *upstream.Reply) []byte {
	if reply.Error != nil || req.Method != "initialize" && req.Method != "server/discover" {
		return reply.Result
	}
	return g.opt.Admission.Greeting(ctx, server, reply.Result)
}

// completion returns the result of a completion without the values that the caller may not see; any
// other result unchanged.
func (g *Gateway) completion(server string, req *wire.Message, reply *upstream.Reply, by caller) []byte {
	if reply.Error != nil || req.Method != "completion/complete" {
		return reply.Result
	}
	return g.opt.Admission.Completion(by.principal, access.DoorGateway, server, req.Params, reply.Result)
}

// withhold removes from a reply what its caller may not see: list items and redacted parts.
func (g *Gateway) withhold(ctx context.Context, server string, req *wire.Message, reply *upstream.Reply, by caller) (*upstream.Reply, error) {
	changed := reply.Message
	l, isList := catalog.ListOf(req.Method)
	if isList && reply.Error == nil {
		g.opt.Admission.NoteList(ctx, server, l, reply.Result)
	}
	if isList && g.opt.Admission.Filters() && reply.Error == nil {
		changed = reply.WithResult(catalog.Filter(l, reply.Result, func(original string) bool {
			return g.opt.Admission.ListsItem(by.principal, access.DoorGateway, server, l, original)
		}))
	} else if values := g.completion(server, req, reply, by); len(values) != len(reply.Result) {
		changed = reply.WithResult(by.permit.RedactResult(values))
	} else if greeting := g.greeting(ctx, server, req, reply); len(greeting) != len(reply.Result) {
		changed = reply.WithResult(greeting)
	} else if redacted := by.permit.RedactResult(reply.Result); len(redacted) > 0 && &redacted[0] != &reply.Result[0] {
		changed = reply.WithResult(redacted)
	} else if redacted := by.permit.RedactResult(reply.Error); len(redacted) > 0 && &redacted[0] != &reply.Error[0] {
		changed = reply.WithError(redacted)
	} else {
		return reply, nil
	}
	msg, err := wire.ParseServer(changed.Raw, g.opt.Masker.LongString())
	if err != nil {
		return nil, err
	}
	return &upstream.Reply{Message: msg, HTTPStatus: reply.HTTPStatus}, nil
}
