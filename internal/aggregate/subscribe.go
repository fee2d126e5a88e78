package aggregate

import "context"

// subscribe begins or ends that a legacy client hears of a resource's changes.
func (s *session) subscribe(ctx context.Context, c *client, a asked) reply {
	server, uri := s.only, a.URI
	if s.only == "" {
		r, err := c.named(s.listsFor(ctx, c, a)).Route(a.Method, a.Params)
		if err != nil {
			return refused(paramsFailed(err))
		}
		server, uri = r.Server, r.URI
	} else if uri == "" {
		return refused(invalidParams("/uri", "is missing"))
	}
	a.timing.server = server
	change := c.member.Unsubscribe
	if a.Method == "resources/subscribe" {
		change = c.member.Subscribe
		s.words.set(server, uri, a.URI) // before the first news
	}
	if err := change(ctx, server, uri); err != nil {
		return refused(callFailed(ctx, server, err))
	}
	if a.Method == "resources/unsubscribe" {
		s.words.drop(server, uri)
	}
	return a.result([]byte("{}"))
}
