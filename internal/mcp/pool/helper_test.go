package pool

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(childVariable); kind != "" {
		os.Exit(playChild(kind))
	}
	goleak.VerifyTestMain(m)
}

// fake is a server inside the test. Each connection to it is a place.
type fake struct {
	tb testing.TB

	mu      sync.Mutex
	eras    string // legacy, modern, both
	name    string // in serverInfo
	caps    string // the capabilities it declares
	lists   map[string][]string
	pages   int                      // items per page; 0: all
	dead    bool                     // it answers nothing
	lonely  bool                     // it refuses a second connection
	refuse  map[string]int           // methods answered with an error
	answers map[string]func() []byte // results that replace the default ones
	silent  bool                     // it does not acknowledge
	grants  []string                 // resources it sends updates for; nil: all
	asked   map[string]int           // number of requests per method
	subs    map[string]int           // subscribed resources
	levels  []string
	listens []string // params of subscriptions/listen
	hangup  chan struct{}
	places  []*place
}

// place is one connection as the server sees it.
type place struct {
	server *fake
	number int
	Connection
	open bool // guarded by server.mu; the handshake has been requested
}

func newFake(tb testing.TB, tools ...string) *fake {
	tb.Helper()
	return &fake{
		tb: tb, eras: "legacy", name: "fake",
		caps:  `{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},"logging":{}}`,
		lists: map[string][]string{"tools": tools}, refuse: map[string]int{}, answers: map[string]func() []byte{},
		asked: map[string]int{}, subs: map[string]int{}, hangup: make(chan struct{}),
	}
}

func (s *fake) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fake) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

func (s *fake) place(i int) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places[i]
}

// open returns the connections on which a handshake was requested.
func (s *fake) open() (found []*place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.places {
		if p.open {
			found = append(found, p)
		}
	}
	return found
}

func (s *fake) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.places)
}

func (s *fake) subscribed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.subs))
}

// Serve answers a message on one connection.
func (p *place) Serve(ctx context.Context, msg *wire.Message) []byte {
	s := p.server
	s.mu.Lock()
	s.asked[msg.Method]++
	if p.open && msg.Method == "initialize" {
		clear(s.subs) // it is another session
	}
	p.open = p.open || msg.Method == "initialize" || msg.Method == "server/discover"
	dead := s.dead || s.lonely && p.number > 0
	code := s.refuse[msg.Method]
	answer := s.answers[msg.Method]
	eras, name, caps, hangup := s.eras, s.name, s.caps, s.hangup
	s.mu.Unlock()
	if msg.Kind() == wire.Notification {
		return nil
	}
	if dead {
		<-ctx.Done()
		return nil
	}
	if code != 0 {
		return wire.NewError(code, "refused").AppendResponse(nil, msg.ID)
	}
	if answer != nil {
		return wire.AppendResult(nil, msg.ID, answer())
	}
	unknown := wire.NewError(wire.CodeMethodNotFound, "unknown").AppendResponse(nil, msg.ID)
	switch msg.Method {
	case "initialize":
		if eras == "modern" {
			return unknown
		}
		return wire.AppendResult(nil, msg.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":`+caps+`,"serverInfo":{"name":"`+name+`"}}`))
	case "server/discover":
		if eras == "legacy" {
			return unknown
		}
		if strings.Contains(string(msg.Params), noVersion) {
			return era.UnsupportedVersion(noVersion).AppendResponse(nil, msg.ID)
		}
		return wire.AppendResult(nil, msg.ID, []byte(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+caps+
			`,"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"`+name+`"}}}`))
	case "ping":
		return wire.AppendResult(nil, msg.ID, []byte(`{}`))
	case "tools/call":
		return wire.AppendResult(nil, msg.ID, fmt.Appendf(nil, `{"content":[],"place":%d}`, p.number))
	case "resources/subscribe":
		s.set(func() { s.subs[msg.URI]++ })
		return wire.AppendResult(nil, msg.ID, []byte(`{}`))
	case "resources/unsubscribe":
		s.set(func() { delete(s.subs, msg.URI) })
		return wire.AppendResult(nil, msg.ID, []byte(`{}`))
	case "logging/setLevel":
		s.set(func() { s.levels = append(s.levels, strings.Trim(string(msg.Params), `{}"`)[len(`level":"`):]) })
		return wire.AppendResult(nil, msg.ID, []byte(`{}`))
	case "subscriptions/listen":
		return p.listen(ctx, msg, hangup)
	}
	if l, ok := catalog.ListOf(msg.Method); ok {
		return wire.AppendResult(nil, msg.ID, s.page(l, string(msg.Params)))
	}
	return unknown
}

func (p *place) listen(ctx context.Context, msg *wire.Message, hangup chan struct{}) []byte {
	s := p.server
	params := era.WithoutMeta(msg.Params)
	s.mu.Lock()
	if ctx.Err() != nil { // another request has replaced it already
		s.mu.Unlock()
		return nil
	}
	s.listens = append(s.listens, string(params))
	silent, grants := s.silent, s.grants
	s.mu.Unlock()
	if !silent {
		granted := string(params[:len(params)-1])
		if grants != nil {
			granted = `{"notifications":{"resourceSubscriptions":["` + strings.Join(grants, `","`) + `"]}`
		}
		p.sendIn(ctx, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":`+granted+
			`,"_meta":{"`+era.MetaSubscription+`":"`+p.subscription(params)+`"}}}`)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-hangup:
		return wire.AppendResult(nil, msg.ID, []byte(`{"resultType":"complete"}`))
	}
}

// subscription returns the id that we know a request by. The upstream would substitute it for the
// one on the wire.
func (p *place) subscription(params []byte) string {
	now, _, _ := p.Incoming.(*Conn).listens.state()
	if now == nil || string(now.filter.params()) != string(params) {
		return "old"
	}
	return now.id()
}

// page returns one page of a list. The cursor is the number of the first item.
func (s *fake) page(l catalog.List, params string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := s.lists[l.Member()]
	from := 0
	_, _ = fmt.Sscanf(params, `{"cursor":"%d"`, &from)
	to, next := len(items), ""
	if s.pages > 0 && from+s.pages < to {
		to = from + s.pages
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	var all []string
	for _, name := range items[from:to] {
		key := map[catalog.List]string{catalog.Tools: "name", catalog.Prompts: "name", catalog.Resources: "uri", catalog.Templates: "uriTemplate"}[l]
		all = append(all, fmt.Sprintf(`{%q:%q,"inputSchema":{}}`, key, name))
	}
	return fmt.Appendf(nil, `{"resultType":"complete",%q:[%s]%s,"ttlMs":60000,"cacheScope":"public"}`, l.Member(), strings.Join(all, ","), next)
}

// send delivers a message from the server on a connection.
func (p *place) send(message string) []byte {
	p.server.tb.Helper()
	return p.sendIn(p.server.tb.Context(), message)
}

func (p *place) sendIn(ctx context.Context, message string) []byte {
	p.server.tb.Helper()
	m, err := wire.ParseServer([]byte(message), 0)
	if err != nil {
		p.server.tb.Fatalf("%s: %v", message, err)
	}
	if strings.HasSuffix(m.Method, "/list_changed") {
		p.Announced(m.Method)
	}
	return p.Incoming.Serve(ctx, &m)
}

// sendChanged announces that a list has changed.
func (p *place) sendChanged(list string) {
	p.send(`{"jsonrpc":"2.0","method":"notifications/` + list + `/list_changed"}`)
}

// poolOf builds a pool of fakes by their ids.
func poolOf(tb testing.TB, opt Options, servers map[string]*fake) *Pool {
	tb.Helper()
	if opt.Servers == nil {
		for _, id := range slices.Sorted(maps.Keys(servers)) {
			opt.Servers = append(opt.Servers, upstream.Settings{ID: id, Builtin: "fake", StartupTimeout: 20 * time.Second})
		}
	}
	opt.New = func(set upstream.Settings, o Connection) (*upstream.Upstream, error) {
		s := servers[set.ID]
		p := &place{server: s, Connection: o}
		s.set(func() {
			p.number = len(s.places)
			s.places = append(s.places, p)
		})
		if o.Protocol != "" {
			set.Protocol = o.Protocol
		}
		if set.URL != "" {
			set.URL, set.Builtin = "", "fake" // for the pool it is remote
		}
		return upstream.New(upstream.Options{
			Settings: set, Local: p, Capabilities: o.Capabilities, Incoming: o.Incoming, Announced: o.Announced, Opened: o.Opened,
			HealthInterval: time.Second, HealthTimeout: time.Second,
		})
	}
	f, err := New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// run runs a pool until the test ends or stop is called.
func run(tb testing.TB, f *Pool) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
	tb.Cleanup(stop)
	return stop
}

// ears is an Observer that records what it receives.
type ears struct {
	mu    sync.Mutex
	heard []string
}

func (e *ears) note(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, s)
}

// all returns what was received since the last call.
func (e *ears) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := e.heard
	e.heard = nil
	return heard
}

func (e *ears) ListChanged(l catalog.List) { e.note("changed " + l.Member()) }
func (e *ears) Notified(server string, n *wire.Message) {
	e.note(server + " " + n.Method + " " + string(n.Params))
}

func (e *ears) Requested(_ context.Context, server string, req *wire.Message) []byte {
	e.note(server + " asks " + req.Method)
	return wire.AppendResult(nil, req.ID, []byte(`{}`))
}

func wantHeard(tb testing.TB, e *ears, want ...string) {
	tb.Helper()
	if got := e.all(); !slices.Equal(got, want) {
		tb.Errorf("heard %q, want %q", got, want)
	}
}

// names returns the names of all tools in a catalog, as clients see them.
func names(tb testing.TB, c *catalog.Catalog) []string {
	tb.Helper()
	page, err := c.For("").Page(catalog.Tools, catalog.Ask{}, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var found []string
	for _, part := range strings.Split(string(page.Items), `"name":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		found = append(found, name)
	}
	return found
}

func wantTools(tb testing.TB, m *Member, want ...string) {
	tb.Helper()
	c, _ := m.Catalog(tb.Context())
	if got := names(tb, c); !slices.Equal(got, want) {
		tb.Errorf("tools %q, want %q", got, want)
	}
}

// placeOf returns the number of the server's connection on which a member's call arrives.
func placeOf(tb testing.TB, m *Member, server string) int {
	tb.Helper()
	c, err := m.Conn(tb.Context(), server)
	if err != nil {
		tb.Fatalf("Conn(%s): %v", server, err)
	}
	req := wire.NewRequest(wire.StringID("me"), "tools/call", []byte(`{"name":"x"}`))
	reply, err := c.Call(tb.Context(), &req, upstream.CallOptions{})
	if err != nil {
		tb.Fatalf("call of %s: %v", server, err)
	}
	n := -1
	_, at, _ := strings.Cut(string(reply.Result), `"place":`)
	if _, err := fmt.Sscanf(at, "%d", &n); err != nil {
		tb.Fatalf("%s: %v", reply.Result, err)
	}
	return n
}

func legacy(caps string) Client {
	return Client{Era: era.Legacy, Capabilities: era.NormalCapabilities([]byte(caps)), Session: true}
}

func modernClient(caps string) Client {
	return Client{Era: era.Modern, Capabilities: era.NormalCapabilities([]byte(caps))}
}
