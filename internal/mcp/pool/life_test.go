package pool

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

// A client that waited for its greeting does not wait as long again for its first list: only the
// total delay matters to it. A client that joins later does not wait for a server that has had its
// time.
func TestTheFirstListWaitsFromWhenTheClientCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newFake(t, "x")
		slow.dead = true
		f := poolOf(t, Options{FirstListWait: 8 * time.Second}, map[string]*fake{"slow": slow})
		stop := run(t, f)
		defer stop()
		came := time.Now()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		time.Sleep(5 * time.Second) // the server starts when it is first needed
		m.Catalog(t.Context())
		if took := time.Since(came); took != 8*time.Second {
			t.Errorf("the first list came %s after the client, want 8s", took)
		}
		time.Sleep(5 * time.Second)
		later := f.Join(legacy(`{}`), nil)
		defer later.Leave()
		came = time.Now()
		later.Catalog(t.Context())
		if took := time.Since(came); took != 0 {
			t.Errorf("a client that came when the server was 8s late waited %s for its list", took)
		}
	})
}

func TestMembersBeforeAndAfterRun(t *testing.T) {
	for _, eager := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, both := newFake(t, "x"), newFake(t, "y")
			both.eras = "both"
			f := poolOf(t, Options{Eager: eager, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "both": both})
			early := f.Join(modernClient(`{"roots":{}}`), &ears{})
			defer early.Leave()
			unasked := f.Join(legacy(`{}`), nil)
			defer unasked.Leave()
			var asking sync.WaitGroup
			asking.Go(func() { wantTools(t, early, "a::x", "both::y") })
			synctest.Wait()
			stop := run(t, f)
			asking.Wait()
			if err := f.Run(t.Context()); err == nil {
				t.Error("it ran twice")
			}
			stop()

			if err := f.Reload(Servers{}, nil); !errors.Is(err, ErrOver) {
				t.Errorf("Reload after Run: %v, want ErrOver", err)
			}
			late := f.Join(legacy(`{}`), &ears{})
			for _, m := range []*Member{early, unasked, late} {
				began := time.Now()
				if _, err := m.Conn(t.Context(), "a"); !errors.Is(err, ErrOver) {
					t.Errorf("Conn after Run: %v, want ErrOver", err)
				}
				if err := m.Subscribe(t.Context(), "a", "u"); !errors.Is(err, ErrOver) {
					t.Errorf("Subscribe after Run: %v, want ErrOver", err)
				}
				_ = m.SetLevel(t.Context(), "info")
				_ = m.Unsubscribe(t.Context(), "a", "u")
				m.Catalog(t.Context())
				m.Peers(t.Context())
				if took := time.Since(began); took > 0 {
					t.Errorf("took %s after Run", took)
				}
			}
			late.Leave()
			began := time.Now()
			req := wire.NewRequest(wire.StringID("1"), "tools/list", nil)
			up, release := f.Shared("a")
			_, err := up.Call(t.Context(), &req)
			release()
			if failed, ok := errors.AsType[*upstream.CallError](err); !ok || failed.Kind != upstream.Unavailable || time.Since(began) > 0 {
				t.Errorf("call of the base after Run: %v after %s", err, time.Since(began))
			}
		})
	}
}

func TestRunThatEndsWhileAllIsStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, slow := newFake(t), newFake(t, "x")
		dead.dead, dead.eras = true, "both"
		slow.answers["tools/list"] = func() []byte { time.Sleep(20 * time.Second); return []byte(`{"tools":[]}`) }
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Hour}, map[string]*fake{"dead": dead, "slow": slow})
		stop := run(t, f)
		var asking sync.WaitGroup
		for _, client := range []Client{legacy(`{}`), legacy(`{"roots":{}}`), modernClient(`{}`)} {
			m := f.Join(client, &ears{})
			defer m.Leave()
			asking.Go(func() { m.Catalog(t.Context()) })
			asking.Go(func() { _, _ = m.Conn(t.Context(), "dead") })
			asking.Go(func() { _ = m.Subscribe(t.Context(), "slow", "u") })
			asking.Go(func() { _ = m.SetLevel(t.Context(), "info") })
		}
		time.Sleep(time.Second)
		began := time.Now()
		stop()
		asking.Wait()
		if took := time.Since(began); took > 20*time.Second { // the slow answer is the test's own
			t.Errorf("it took %s", took)
		}
	})
}

func TestNothingIsStartedForAClientThatAsksForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for range 100 {
			f.Join(legacy(`{"roots":{}}`), &ears{}).Leave()
			f.Join(modernClient(`{}`), nil).Leave()
		}
		synctest.Wait()
		if n := f.Status()[0].Connections; n != 0 || s.connections() != 1 {
			t.Errorf("%d connections, %d built", n, s.connections())
		}
	})
}

func TestBuilderThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{}, map[string]*fake{"a": s})
		broken := errors.New("broken")
		f.opt.New = func(upstream.Settings, Connection) (*upstream.Upstream, error) { return nil, broken }
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		defer m.Leave()
		if _, err := m.Conn(t.Context(), "a"); !errors.Is(err, broken) {
			t.Errorf("Conn: %v, want the builder's error", err)
		}
		m2 := f.Join(modernClient(`{}`), nil)
		defer m2.Leave()
		if _, err := m2.Conn(t.Context(), "a"); err != nil {
			t.Errorf("Conn that is built: %v", err)
		}
	})
	for name, opt := range map[string]Options{
		"no builder": {},
		"same id twice": {
			Servers: []upstream.Settings{{ID: "a", Builtin: "x"}, {ID: "a", Builtin: "x", Disabled: true}},
			New: func(s upstream.Settings, _ Connection) (*upstream.Upstream, error) {
				return upstream.New(upstream.Options{Settings: s, Local: &place{}})
			},
		},
		"broken settings": {
			Servers: []upstream.Settings{{ID: "a"}},
			New: func(s upstream.Settings, _ Connection) (*upstream.Upstream, error) {
				return upstream.New(upstream.Options{Settings: s})
			},
		},
	} {
		if _, err := New(opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// children returns the child processes that are servers.
func children(tb testing.TB) (pids []int) {
	tb.Helper()
	all, err := os.ReadDir("/proc")
	if err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal("there is no /proc here to count processes")
		}
		tb.Skip("there is no /proc here to count processes")
	}
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		env, _ := os.ReadFile("/proc/" + entry.Name() + "/environ")
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" && strings.Contains(string(env), childVariable) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func wantChildren(tb testing.TB, when string, want int) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for n := -1; n != want; {
		if n = len(children(tb)); n != want && time.Now().After(deadline) {
			tb.Fatalf("%s: %d children, want %d", when, n, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestChildren(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	set := upstream.Settings{
		Command: []string{self}, StartupTimeout: patience, ShutdownGrace: 500 * time.Millisecond,
		Env: map[string]secret.Text{childVariable: secret.New("server"), "GORACE": secret.New("atexit_sleep_ms=0")},
	}
	sharedSet, ownSet := set, set
	sharedSet.ID, ownSet.ID, ownSet.Isolation = "shared", "own", upstream.IsolationPerSession
	f, err := New(Options{
		Servers: []upstream.Settings{sharedSet, ownSet}, Eager: true, FirstListWait: patience, Linger: 50 * time.Millisecond,
		New: connectForReal,
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, f)
	defer stop()

	var members []*Member
	for range 3 {
		m := f.Join(legacy(`{"roots":{}}`), nil)
		members = append(members, m)
		wantTools(t, m, "shared::pid", "own::pid")
	}
	wantChildren(t, "two shared ones, three sessions'", 5)
	if placeOf(t, members[0], "shared") != placeOf(t, members[1], "shared") {
		t.Error("a shared server runs once for each session")
	}
	if placeOf(t, members[0], "own") == placeOf(t, members[1], "own") {
		t.Error("two sessions share a process of an isolated server")
	}
	members[0].Leave()
	wantChildren(t, "one session left", 4)
	members[1].Leave()
	members[2].Leave()
	wantChildren(t, "all left and the linger is over", 2)

	m := f.Join(modernClient(`{}`), nil)
	placeOf(t, m, "shared")
	m.Leave()
	wantChildren(t, "a modern client", 2)

	for range 2 {
		m := f.Join(legacy(`{"roots":{}}`), nil)
		wantTools(t, m, "shared::pid", "own::pid")
	}
	stop()
	if pids := children(t); len(pids) != 0 {
		t.Errorf("Run has returned and %d children are there", len(pids))
	}
}

// TestManyAtOnce lets members do everything concurrently while the servers change, crash and
// restart.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fake{"a": newFake(t, "x"), "b": newFake(t, "y"), "c": newFake(t, "z"), "own": newFake(t, "o")}
		servers["b"].eras, servers["c"].eras = "both", "modern"
		f := poolOf(t, Options{
			Eager: true, FirstListWait: 5 * time.Second, Linger: time.Second, Revisit: time.Second,
			Servers: []upstream.Settings{
				{ID: "a", Builtin: "f", StartupTimeout: 3 * time.Second},
				{ID: "b", Builtin: "f", StartupTimeout: 3 * time.Second},
				{ID: "c", Builtin: "f", StartupTimeout: 3 * time.Second},
				{ID: "own", Builtin: "f", StartupTimeout: 3 * time.Second, Isolation: upstream.IsolationPerSession},
			},
		}, servers)
		stop := run(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var work sync.WaitGroup
		caps := []string{`{}`, `{"roots":{}}`, `{"sampling":{}}`, `{"elicitation":{"url":{}}}`}
		for i := range 24 {
			work.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					live(ctx, f, caps[(i+n)%len(caps)], i+n)
					time.Sleep(time.Duration(i+10) * 97 * time.Millisecond)
				}
			})
		}
		for _, s := range servers {
			work.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					time.Sleep(11 * time.Second)
					s.set(func() { s.lists["tools"] = []string{"t" + strconv.Itoa(n)}; s.dead = n%4 == 3 })
					for _, p := range s.open() {
						p.sendIn(ctx, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
						p.sendIn(ctx, updated("u"))
						p.sendIn(ctx, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
					}
				}
			})
		}
		work.Wait()
		for _, s := range servers {
			s.set(func() { s.dead = false; s.lists["tools"] = []string{"end"} })
			for _, p := range s.open() {
				p.sendChanged("tools")
			}
		}
		time.Sleep(5 * time.Minute)
		m := f.Join(legacy(`{"roots":{}}`), nil)
		wantTools(t, m, "a::end", "b::end", "c::end", "own::end")
		m.Leave()
		time.Sleep(time.Minute)
		for _, st := range f.Status() {
			if st.Connections != 1 {
				t.Errorf("server %s: %d connections are left, want the base", st.ID, st.Connections)
			}
		}
		for id, s := range servers {
			// its connections have ended
			if left := s.subscribed(); len(left) != 0 && s.eras == "legacy" && id != "own" {
				t.Errorf("server %s: subscriptions %q are left", id, left)
			}
		}
		f.mu.Lock()
		if len(f.watchers) != 0 {
			t.Errorf("left behind: %d watchers", len(f.watchers))
		}
		f.mu.Unlock()
		stop()
	})
}

// live runs a member through all operations.
func live(ctx context.Context, f *Pool, caps string, n int) {
	client := legacy(caps)
	if n%2 == 1 {
		client = modernClient(caps)
	}
	var l Observer
	if n%3 != 0 {
		l = &ears{}
	}
	m := f.Join(client, l)
	var work sync.WaitGroup
	for i, id := range f.IDs() {
		work.Go(func() {
			c, err := m.Conn(ctx, id)
			if err != nil {
				return
			}
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			req := wire.NewRequest(wire.StringID("1"), "tools/call", []byte(`{"name":"x"}`))
			_, _ = c.Call(ctx, &req, upstream.CallOptions{})
			_ = m.Subscribe(ctx, id, "u")
			if i%2 == 0 {
				_ = m.Unsubscribe(ctx, id, "u")
			}
			_ = c.Notify(ctx, &wire.Message{})
		})
	}
	work.Go(func() { m.Catalog(ctx) })
	work.Go(func() { m.Peers(ctx); _ = f.Status() })
	work.Go(func() { _ = m.SetLevel(ctx, levels[n%len(levels)]) })
	if n%5 == 0 {
		m.Leave()
	}
	work.Wait()
	m.Leave()
}
