package aggregate

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// listen answers subscriptions/listen (2026-07-28, basic/patterns/subscriptions; SEP-2575): the stream of this one
// request keeps a modern client informed until it goes away.
func (s *clientConn) listen(ctx context.Context, c *client, a request) reply {
	filter := rawjson.Get(a.Params, "notifications")
	switch {
	case !rawjson.IsObject(filter):
		return refused(invalidParams("/notifications", "expected an object"))
	case !a.x.Streams():
		e := wire.NewError(wire.CodeInvalidRequest, "subscriptions/listen is answered with a stream: accept text/event-stream")
		return refused(&failure{err: e, status: http.StatusNotAcceptable})
	}
	l := &listenStream{s: s, a: a, wanted: map[catalog.List]bool{}}
	for list, name := range listFilters {
		l.wanted[list] = string(rawjson.Get(filter, name)) == "true" && s.changes(ctx, c, list) && (list != catalog.Tools || !s.isFrozen(ctx, c, a))
	}
	m := s.opt.Pool.Join(pool.Client{
		Era: era.Modern, Capabilities: c.capabilities, Session: s.link != nil, Only: s.only, Subject: func() string { return a.principal.Subject },
	}, l)
	defer m.Leave()
	known(ctx, m) // from now on it is known what has changed
	ctx, done := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer done()
	uris := s.follow(ctx, c, a, m, l, catalog.SubscriptionURIs(a.Params))
	tasks := s.followTasks(ctx, c, a, m, l, catalog.SubscriptionTasks(a.Params), &work)
	l.acknowledge(uris, tasks)
	select {
	case <-ctx.Done():
	case <-s.quiet:
	}
	result := rawjson.Object{'{'}
	result.Text("resultType", era.Complete)
	result.Raw("_meta", l.meta())
	return a.result(append(result, '}'))
}

// listFilters are the names under which a client asks to hear of a list's changes.
var listFilters = map[catalog.List]string{
	catalog.Tools: "toolsListChanged", catalog.Prompts: "promptsListChanged", catalog.Resources: "resourcesListChanged",
}

// changes reports whether a list may change: with one server, as it says itself.
func (s *clientConn) changes(ctx context.Context, c *client, l catalog.List) bool {
	if s.only == "" {
		return true
	}
	peer, failed := s.peerOf(ctx, c)
	return failed == nil && string(rawjson.Get(rawjson.Get(peer.Capabilities(), l.Member()), "listChanged")) == "true"
}

// follow subscribes to resources and returns those that can be followed, in the client's words.
func (s *clientConn) follow(ctx context.Context, c *client, a request, m *pool.Member, l *listenStream, uris []string) (honoured []string) {
	if len(uris) == 0 {
		return nil
	}
	var lists *catalog.Catalog
	if s.only == "" {
		lists, _ = c.member.Catalog(ctx)
	}
	for _, uri := range uris {
		server, original, ok := s.only, uri, true
		if lists != nil {
			server, original, ok = lists.ResolveURI(uri)
		}
		if !ok || !a.lists(catalog.Resources, server, original) {
			continue
		}
		l.uris.set(server, original, uri)
		if err := m.Subscribe(ctx, server, original); err != nil {
			s.log.DebugContext(ctx, "resource not followed", "server", server, "err", err)
			continue
		}
		honoured = append(honoured, uri)
	}
	return honoured
}

// listenStream is the stream of a subscriptions/listen.
type listenStream struct {
	s      *clientConn
	a      request
	wanted map[catalog.List]bool
	uris   subscribedURIs

	mu    sync.Mutex
	open  bool     // guarded by mu; the client knows what it will hear
	early [][]byte // guarded by mu; what came before that
}

const maxEarly = 256

// mark is the member of _meta that says which subscription a message is for.
func (l *listenStream) mark() []byte {
	var o rawjson.Object
	o.Raw(era.MetaSubscription, []byte(l.a.ID.String()))
	return o
}

// meta is an _meta with nothing but the mark.
func (l *listenStream) meta() []byte { return slices.Concat([]byte{'{'}, l.mark(), []byte{'}'}) }

// acknowledge tells the client what it will hear, and then what has happened meanwhile.
func (l *listenStream) acknowledge(uris, tasks []string) {
	params := rawjson.Object{'{'}
	params.Begin("notifications")
	for _, list := range []catalog.List{catalog.Tools, catalog.Prompts, catalog.Resources} {
		if l.wanted[list] {
			params.Bool(listFilters[list], true)
		}
	}
	if len(uris) > 0 {
		params.Texts("resourceSubscriptions", uris)
	}
	if len(tasks) > 0 {
		params.Texts("taskIds", tasks)
	}
	params.End()
	params.Raw("_meta", l.meta())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.a.x.Send(wire.NewNotification("notifications/subscriptions/acknowledged", append(params, '}')).Raw)
	for _, msg := range l.early {
		l.a.x.Send(msg)
	}
	l.open, l.early = true, nil
}

func (l *listenStream) send(msg []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.open:
		l.a.x.Send(msg)
	case len(l.early) < maxEarly:
		l.early = append(l.early, msg)
	}
}

// ListChanged tells the client to list anew.
func (l *listenStream) ListChanged(list catalog.List) {
	if list == catalog.Templates {
		list = catalog.Resources
	}
	if l.wanted[list] {
		params := rawjson.Object{'{'}
		params.Raw("_meta", l.meta())
		l.send(wire.NewNotification(changeNotices[list], append(params, '}')).Raw)
	}
}

// Notified passes on that a resource has changed. Nothing else belongs on this stream.
func (l *listenStream) Notified(server string, m *wire.Message) {
	if m.Method != "notifications/resources/updated" {
		return
	}
	l.pass(server, m)
}

// pass puts a server's notification on the stream.
func (l *listenStream) pass(server string, m *wire.Message) {
	l.s.log.Debug("server notifies the client", "server", server, "method", m.Method)
	own, err := wire.ParseServer(l.s.forClient(server, m, l.uris.outgoing(server, m)), 0)
	if err == nil {
		l.send(own.AppendWithMeta(nil, l.mark()))
	}
}

// Requested refuses: a modern client is asked within its calls only.
func (l *listenStream) Requested(_ context.Context, _ string, req *wire.Message) []byte {
	return notOffered(req)
}
