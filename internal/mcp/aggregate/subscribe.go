package aggregate

import (
	"context"
	"errors"

	"secateur/internal/access"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/wire"
)

// subscribe answers resources/subscribe and resources/unsubscribe of a legacy client (server/resources, "Subscriptions").
func (s *clientConn) subscribe(ctx context.Context, c *client, a request) reply {
	server, uri, found := s.only, a.URI, false
	if s.only == "" {
		view := c.named(s.listsFor(ctx, c, a))
		r, err := view.Route(a.Method, a.Params)
		if err != nil {
			return refused(paramsFailed(a.unambiguous(err)))
		}
		server, uri, found = r.Server, r.URI, !view.NamesServer(a.URI)
	} else if uri == "" {
		return refused(invalidParams("/uri", "is missing"))
	}
	a.timing.Server = server
	thing := access.Target{Door: access.DoorMCP, Server: server, Kind: access.KindResource, Name: uri}
	names := []access.Target{thing}
	if found {
		if no := a.now.Admission.Hidden(ctx, a.principal, a.Method, names...); no != nil {
			return refused(a.refusedBy(no))
		}
	}
	permit, failed := s.mayHave(ctx, c, a, server, names)
	if failed != nil {
		return refused(failed)
	}
	a.permit = permit
	defer permit.Done(len(a.Raw), 0)
	change := c.member.Unsubscribe
	if a.Method == "resources/subscribe" {
		change = c.member.Subscribe
		s.uris.set(server, uri, a.URI) // before the first update
	}
	if err := change(ctx, server, uri); err != nil {
		if said, ok := errors.AsType[*pool.ServerError](err); ok {
			if no := c.absent(ctx, a, names, &wire.Message{Error: said.Object}); no != nil {
				return refused(no)
			}
		}
		return refused(callFailed(ctx, server, err))
	}
	if a.Method == "resources/unsubscribe" {
		s.uris.drop(server, uri)
	}
	return a.result([]byte("{}"))
}
