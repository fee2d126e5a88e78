package aggregate

import (
	"context"
	"net/http"
	"sync"

	"secateur/internal/catalog"
	"secateur/internal/era"
	"secateur/internal/pool"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
	"secateur/internal/upstream"
)

// listen keeps a modern client informed, on the stream of this one request, until it goes away.
func (s *session) listen(ctx context.Context, c *client, a asked) reply {
	filter := member(a.Params, "notifications")
	switch {
	case !isObject(filter):
		return refused(invalidParams("/notifications", "expected an object"))
	case !a.x.Streams():
		e := rpc.NewError(rpc.CodeInvalidRequest, "subscriptions/listen is answered with a stream: accept text/event-stream")
		return refused(&failure{err: e, status: http.StatusNotAcceptable})
	}
	l := &listener{s: s, a: a, wanted: map[catalog.List]bool{}}
	for list, name := range listFilters {
		l.wanted[list] = string(member(filter, name)) == "true" && s.changes(ctx, c, list)
	}
	m := s.opt.Pool.Join(pool.Client{
		Era: upstream.Modern, Capabilities: c.capabilities, Session: s.link != nil, Only: s.only,
	}, l)
	defer m.Leave()
	known(ctx, m) // from now on it is known what has changed
	ctx, done := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer done()
	uris := s.follow(ctx, c, m, l, catalog.SubscriptionURIs(a.Params))
	tasks := s.followTasks(ctx, c, m, l, catalog.SubscriptionTasks(a.Params), &work)
	l.acknowledge(uris, tasks)
	select {
	case <-ctx.Done():
	case <-s.quiet:
	}
	mark := l.mark()
	return a.result([]byte(`{"resultType":"complete","_meta":{` + string(mark) + `}}`))
}

// listFilters are the names under which a client asks to hear of a list's changes.
var listFilters = map[catalog.List]string{
	catalog.Tools: "toolsListChanged", catalog.Prompts: "promptsListChanged", catalog.Resources: "resourcesListChanged",
}

// changes reports whether a list may change: with one server, as it says itself.
func (s *session) changes(ctx context.Context, c *client, l catalog.List) bool {
	if s.only == "" {
		return true
	}
	peer, failed := s.peerOf(ctx, c)
	return failed == nil && string(member(member(peer.Capabilities(), l.Member()), "listChanged")) == "true"
}

// follow subscribes to resources and returns those that can be followed, in the client's words.
func (s *session) follow(ctx context.Context, c *client, m *pool.Member, l *listener, uris []string) (honoured []string) {
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
		if !ok {
			continue
		}
		l.words.set(server, original, uri)
		if err := m.Subscribe(ctx, server, original); err != nil {
			s.log.DebugContext(ctx, "resource not followed", "upstream", server, "err", err)
			continue
		}
		honoured = append(honoured, uri)
	}
	return honoured
}

// listener is what a subscriptions/listen hears.
type listener struct {
	s      *session
	a      asked
	wanted map[catalog.List]bool
	words  words

	mu    sync.Mutex
	open  bool     // guarded by mu; the client knows what it will hear
	early [][]byte // guarded by mu; what came before that
}

const maxEarly = 256

// mark is the member of _meta that says which subscription a message is for.
func (l *listener) mark() []byte {
	return l.a.ID.Append([]byte(`"` + era.MetaSubscription + `":`))
}

// acknowledge tells the client what it will hear, and then what has happened meanwhile.
func (l *listener) acknowledge(uris, tasks []string) {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{`)
	first := true
	add := func(name string) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(rawjson.AppendQuoted(b, name), ':')
	}
	for _, list := range []catalog.List{catalog.Tools, catalog.Prompts, catalog.Resources} {
		if l.wanted[list] {
			add(listFilters[list])
			b = append(b, "true"...)
		}
	}
	if len(uris) > 0 {
		add("resourceSubscriptions")
		b = appendTexts(b, uris)
	}
	if len(tasks) > 0 {
		add("taskIds")
		b = appendTexts(b, tasks)
	}
	b = append(append(append(b, `},"_meta":{`...), l.mark()...), "}}}"...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.a.x.Send(b)
	for _, msg := range l.early {
		l.a.x.Send(msg)
	}
	l.open, l.early = true, nil
}

func (l *listener) send(msg []byte) {
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
func (l *listener) ListChanged(list catalog.List) {
	if list == catalog.Templates {
		list = catalog.Resources
	}
	if l.wanted[list] {
		l.send([]byte(`{"jsonrpc":"2.0","method":"` + changeNotices[list] + `","params":{"_meta":{` + string(l.mark()) + `}}}`))
	}
}

// Notified passes on that a resource has changed. Nothing else belongs on this stream.
func (l *listener) Notified(server string, m *rpc.Message) {
	if m.Method != "notifications/resources/updated" {
		return
	}
	l.pass(server, m)
}

// pass puts a server's notification on the stream.
func (l *listener) pass(server string, m *rpc.Message) {
	l.s.log.Debug("server notifies the client", "upstream", server, "method", m.Method)
	own, err := rpc.ParseServer(l.s.forClient(server, m, l.words.outgoing(server, m)), 0)
	if err == nil {
		l.send(own.AppendWithMeta(nil, l.mark()))
	}
}

// Requested refuses: a modern client is asked within its calls only.
func (l *listener) Requested(_ context.Context, _ string, req *rpc.Message) []byte {
	return notOffered(req)
}
