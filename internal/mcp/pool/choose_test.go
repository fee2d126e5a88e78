package pool

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// Each step is a client that stays until the end.
func TestWhichConnectionServesWhom(t *testing.T) {
	type step struct {
		client Client
		place  int    // the connection on which its call arrives
		caps   string // the capabilities that this connection declares
	}
	const roots, sampling = `{"roots":{}}`, `{"sampling":{}}`
	both, all := `{"roots":{},"sampling":{}}`, string(allCapabilities)
	once := legacy(roots)
	once.Session = false
	remote := upstream.Settings{URL: "http://127.0.0.1:1"}
	for name, c := range map[string]struct {
		eras     string
		settings upstream.Settings
		opt      Options
		lazy     bool
		steps    []step
	}{
		"one connection serves all legacy clients and declares what can be served for anyone": {
			steps: []step{{legacy(`{}`), 0, all}, {legacy(roots), 0, all}, {legacy(sampling), 0, all}, {legacy(`{"experimental":{"x":1}}`), 0, all}},
		},
		"a server that speaks only the modern era needs one connection": {
			eras:  "modern",
			steps: []step{{legacy(roots), 0, all}, {modernClient(sampling), 0, all}, {legacy(`{}`), 0, all}},
		},
		"a server that is to be spoken to in the modern era needs one connection": {
			eras: "both", settings: upstream.Settings{Protocol: upstream.ProtocolModern},
			steps: []step{{legacy(roots), 0, all}, {modernClient(sampling), 0, all}},
		},
		"a server of both eras is spoken to in the client's": {
			eras:  "both",
			steps: []step{{modernClient(roots), 1, `{}`}, {modernClient(sampling), 1, `{}`}, {legacy(roots), 0, all}, {legacy(`{}`), 0, all}},
		},
		"a remote server of both eras too": {
			eras: "both", settings: remote,
			steps: []step{{legacy(roots), 0, all}, {modernClient(roots), 1, `{}`}, {modernClient(sampling), 1, `{}`}},
		},
		"a legacy server serves modern clients on the one connection": {
			steps: []step{{modernClient(roots), 0, all}, {modernClient(`{}`), 0, all}, {legacy(roots), 0, all}},
		},
		"a remote legacy server too": {
			settings: remote,
			steps:    []step{{modernClient(roots), 0, all}, {modernClient(`{}`), 0, all}},
		},
		"a server that is to be spoken to in the legacy era is not tried in the other": {
			eras: "both", settings: upstream.Settings{Protocol: upstream.ProtocolLegacy},
			steps: []step{{modernClient(roots), 0, all}, {modernClient(`{}`), 0, all}},
		},
		"sessions of an isolated server have connections of their own": {
			settings: upstream.Settings{Isolation: upstream.IsolationPerSession},
			steps:    []step{{legacy(roots), 1, roots}, {legacy(roots), 2, roots}, {legacy(`{}`), 3, `{}`}, {once, 0, all}, {once, 0, all}},
		},
		"legacy servers are not told what only modern ones understand": {
			settings: upstream.Settings{Isolation: upstream.IsolationPerSession},
			steps:    []step{{legacy(`{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`), 1, roots}},
		},
		"capabilities beyond reason are nobody's": {
			lazy:  true,
			steps: []step{{legacy(`{"x":"` + strings.Repeat("x", maxCapabilities) + `"}`), 0, `{}`}},
		},
		"without eagerness the first client's connection is the only one": {
			lazy:  true,
			steps: []step{{legacy(roots), 1, roots}, {legacy(roots), 1, roots}, {legacy(`{}`), 1, roots}},
		},
		"without eagerness one who can do more gets another, which serves all who come later": {
			lazy:  true,
			steps: []step{{legacy(roots), 1, roots}, {legacy(sampling), 2, both}, {legacy(roots), 2, both}},
		},
		"without eagerness clients that contradict each other are not joined": {
			lazy: true,
			steps: []step{
				{legacy(`{"experimental":{"x":1}}`), 1, `{"experimental":{"x":1}}`},
				{legacy(`{"experimental":{"x":2}}`), 2, `{"experimental":{"x":2}}`},
			},
		},
		"without eagerness too a server of the modern era needs one connection": {
			eras: "modern", lazy: true,
			steps: []step{{legacy(roots), 1, roots}, {legacy(sampling), 1, roots}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFake(t, "x")
				if c.eras != "" {
					s.eras = c.eras
				}
				set := c.settings
				set.ID = "a"
				if set.URL == "" {
					set.Builtin = "fake"
				}
				opt := c.opt
				opt.Eager = !c.lazy
				opt.Servers = []upstream.Settings{set}
				f := poolOf(t, opt, map[string]*fake{"a": s})
				stop := run(t, f)
				defer stop()
				for i, step := range c.steps {
					m := f.Join(step.client, nil)
					defer m.Leave()
					at := placeOf(t, m, "a")
					if at != step.place || string(s.place(at).Capabilities) != step.caps {
						t.Errorf("step %d: served on connection %d that declares %s, want %d with %s", i+1, at, s.place(at).Capabilities, step.place, step.caps)
					}
				}
			})
		})
	}
}

// A client without a session may return at any time.
func TestConnectionsWaitForRevisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.eras = "both"
		f := poolOf(t, Options{Eager: true, Linger: time.Minute, Revisit: 10 * time.Minute}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for range 3 {
			m := f.Join(modernClient(`{}`), nil)
			if at := placeOf(t, m, "a"); at != 1 {
				t.Errorf("served on connection %d, want the one there is", at)
			}
			m.Leave()
			time.Sleep(9 * time.Minute)
		}
		time.Sleep(2 * time.Minute)
		if n := f.Status()[0].Connections; n != 1 {
			t.Errorf("%d connections, want the shared one", n)
		}
	})
}

func TestConnectionsLingerAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{Linger: time.Minute}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		connections := func() int { return f.Status()[0].Connections }

		m := f.Join(legacy(`{"roots":{}}`), nil)
		placeOf(t, m, "a")
		if n := connections(); n != 1 {
			t.Fatalf("%d connections, want 1", n)
		}
		m.Leave()
		m.Leave()
		time.Sleep(59 * time.Second)
		again := f.Join(legacy(`{"roots":{}}`), nil)
		if at := placeOf(t, again, "a"); at != 1 {
			t.Errorf("served on connection %d, want the one that lingers", at)
		}
		time.Sleep(time.Hour)
		if n := connections(); n != 1 {
			t.Errorf("%d connections while one is in use, want 1", n)
		}
		again.Leave()
		time.Sleep(40 * time.Second)
		brief := f.Join(legacy(`{"roots":{}}`), nil)
		placeOf(t, brief, "a")
		brief.Leave()
		time.Sleep(50 * time.Second)
		if n := connections(); n != 1 {
			t.Errorf("%d connections, want 1: the linger begins anew with each user", n)
		}
		time.Sleep(11 * time.Second)
		if n := connections(); n != 0 {
			t.Errorf("%d connections after the linger, want none", n)
		}
		once := f.Join(legacy(`{"roots":{}}`), nil)
		if at := placeOf(t, once, "a"); at != 2 {
			t.Errorf("served on connection %d, want a new one", at)
		}
		if _, err := again.Conn(t.Context(), "a"); !errors.Is(err, ErrOver) {
			t.Errorf("Conn after Leave: %v, want ErrOver", err)
		}
	})
}

// A server that cannot start twice is used through its only connection, in that connection's era.
func TestServerThatRunsOnlyOnceIsUsedThroughItsOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.eras, s.lonely = "both", true
		f := poolOf(t, Options{Eager: true}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(modernClient(`{"roots":{}}`), nil)
		defer m.Leave()
		if at := placeOf(t, m, "a"); at != 0 {
			t.Errorf("served on connection %d, want the shared one", at)
		}
		other := f.Join(modernClient(`{"sampling":{}}`), nil)
		defer other.Leave()
		began := time.Now()
		if at := placeOf(t, other, "a"); at != 0 || time.Since(began) > 0 {
			t.Errorf("served on connection %d after %s, want the shared one at once", at, time.Since(began))
		}
		if n := s.connections(); n != 2 {
			t.Errorf("%d connections were built, want two: a second is tried once", n)
		}
	})
}

func TestSessionsOfTheirOwnAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{
			MaxPrivate: 1,
			Servers:    []upstream.Settings{{ID: "a", Builtin: "fake", Isolation: upstream.IsolationPerSession}},
		}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		placeOf(t, m, "a")
		other := f.Join(legacy(`{}`), nil)
		defer other.Leave()
		if _, err := other.Conn(t.Context(), "a"); !errors.Is(err, ErrTooMany) {
			t.Errorf("Conn: %v, want ErrTooMany", err)
		}
		m.Leave()
		placeOf(t, other, "a")
	})
}

// One caller cannot use up all private processes, and its abandoned sessions do not lock it out.
func TestSessionsOfOneCallerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{
			MaxOfOwner: 2,
			Servers:    []upstream.Settings{{ID: "a", Builtin: "fake", Isolation: upstream.IsolationPerSession}},
		}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		var all []*Member
		defer func() {
			for _, m := range all {
				m.Leave()
			}
		}()
		join := func(owner string) *Member {
			c := legacy(`{}`)
			c.Owner = owner
			all = append(all, f.Join(c, nil))
			return all[len(all)-1]
		}
		first, second := join("one"), join("one")
		placeOf(t, first, "a")
		placeOf(t, second, "a")
		if _, err := join("one").Conn(t.Context(), "a"); !errors.Is(err, ErrTooMany) || !strings.Contains(err.Error(), "2 sessions") {
			t.Errorf("a third session of one caller: %v, want ErrTooMany and how many there are", err)
		}
		if at := placeOf(t, join("another"), "a"); at != 3 {
			t.Errorf("another caller's session is served on connection %d, want 3", at)
		}
		time.Sleep(restTime)
		placeOf(t, first, "a")
		third := join("one")
		if at := placeOf(t, third, "a"); at != 4 {
			t.Errorf("once one rests, a third is served on connection %d, want 4", at)
		}
		if at := placeOf(t, first, "a"); at != 1 {
			t.Errorf("the one in use is served on connection %d, want its own", at)
		}
		if _, err := second.Conn(t.Context(), "a"); !errors.Is(err, ErrTooMany) {
			t.Errorf("the one that made room, while the others are in use: %v, want ErrTooMany", err)
		}
		time.Sleep(restTime)
		if at := placeOf(t, second, "a"); at != 5 {
			t.Errorf("the one that made room comes again: served on connection %d, want a new one", at)
		}
	})
}

func TestConnectionIsKeptForACallThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.answers["slow"] = func() []byte { time.Sleep(25 * time.Second); return []byte(`{}`) }
		f := poolOf(t, Options{Linger: time.Second}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		c, err := m.Conn(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		var call sync.WaitGroup
		call.Go(func() {
			req := wire.NewRequest(wire.StringID("1"), "slow", nil)
			if _, err := c.Call(t.Context(), &req, upstream.CallOptions{}); err != nil {
				t.Errorf("Call: %v", err)
			}
		})
		synctest.Wait()
		m.Leave()
		call.Wait()
		time.Sleep(time.Minute)
		if n := f.Status()[0].Connections; n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}

func TestWhoLeavesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.dead = true
		f := poolOf(t, Options{
			Servers: []upstream.Settings{{ID: "a", Builtin: "fake", Isolation: upstream.IsolationPerSession}},
		}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := m.Conn(t.Context(), "a"); !errors.Is(err, ErrOver) {
				t.Errorf("Conn: %v, want ErrOver", err)
			}
		})
		synctest.Wait()
		began := time.Now()
		m.Leave()
		asking.Wait()
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %s", took)
		}
	})
}
