package aggregate

import (
	"context"

	"secateur/internal/access"
)

// subscribe answers resources/subscribe and resources/unsubscribe of a legacy client (server/resources, "Subscriptions").
func (s *clientConn) subscribe(ctx context.Context, c *client, a request) reply {
	server, uri := s.only, a.URI
	if s.only == "" {
		r, err := c.named(s.listsFor(ctx, c, a)).Route(a.Method, a.Params)
		if err != nil {
			return refused(paramsFailed(a.unambiguous(err)))
		}
		server, uri = r.Server, r.URI
	} else if uri == "" {
		return refused(invalidParams("/uri", "is missing"))
	}
	a.timing.Server = server
	thing := access.Target{Door: access.DoorMCP, Server: server, Kind: access.KindResource, Name: uri}
	permit, failed := s.mayHave(ctx, a, server, []access.Target{thing})
	if failed != nil {
		return refused(failed)
	}
	defer permit.Done(len(a.Raw), 0)
	change := c.member.Unsubscribe
	if a.Method == "resources/subscribe" {
		change = c.member.Subscribe
		s.uris.set(server, uri, a.URI) // before the first update
	}
	if err := change(ctx, server, uri); err != nil {
		return refused(callFailed(ctx, server, err))
	}
	if a.Method == "resources/unsubscribe" {
		s.uris.drop(server, uri)
	}
	return a.result([]byte("{}"))
}
