package pool

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/rpc"
	"secateur/internal/upstream"
)

// Each step is a client; it stays until the end.
func TestWhichConnectionServesWhom(t *testing.T) {
	type step struct {
		client Client
		place  int    // on which connection its call arrives; 0 is the base
		caps   string // what that one declares
	}
	const roots, sampling = `{"roots":{}}`, `{"sampling":{}}`
	both := `{"roots":{},"sampling":{}}`
	once := legacy(roots)
	once.Session = false
	for name, c := range map[string]struct {
		eras     string
		settings upstream.Settings
		opt      Options
		lazy     bool
		steps    []step
	}{
		"a client without capabilities is served by the base": {
			steps: []step{{legacy(`{}`), 0, `{}`}, {legacy(`{}`), 0, `{}`}},
		},
		"clients with the same capabilities share a connection that declares them": {
			steps: []step{{legacy(roots), 1, roots}, {legacy(roots), 1, roots}, {legacy(`{}`), 0, `{}`}},
		},
		"a connection that declares more will do": {
			steps: []step{{legacy(both), 1, both}, {legacy(roots), 1, both}},
		},
		"of several that will do it is the one that declares least": {
			steps: []step{{legacy(roots), 1, roots}, {legacy(sampling), 2, both}, {legacy(roots), 1, roots}, {legacy(both), 2, both}},
		},
		"a new connection declares what all present legacy clients have": {
			steps: []step{{legacy(sampling), 1, sampling}, {legacy(roots), 2, both}},
		},
		"clients that contradict each other have connections of their own": {
			steps: []step{
				{legacy(`{"experimental":{"x":1}}`), 1, `{"experimental":{"x":1}}`},
				{legacy(`{"experimental":{"x":2}}`), 2, `{"experimental":{"x":2}}`},
				{legacy(`{"experimental":{"x":1}}`), 1, `{"experimental":{"x":1}}`},
				{legacy(`{"experimental":{"x":2}}`), 2, `{"experimental":{"x":2}}`},
			},
		},
		"legacy servers are not told what only modern ones understand": {
			steps: []step{{legacy(`{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`), 1, roots}},
		},
		"capabilities beyond reason are nobody's": {
			steps: []step{{legacy(`{"x":"` + strings.Repeat("x", maxCapabilities) + `"}`), 0, `{}`}},
		},
		"when there are too many connections the base serves": {
			opt:   Options{MaxConnections: 1},
			steps: []step{{legacy(roots), 1, roots}, {legacy(sampling), 0, `{}`}, {legacy(roots), 1, roots}},
		},
		"a server that speaks only the modern era needs one connection": {
			eras:  "modern",
			steps: []step{{legacy(roots), 0, `{}`}, {modernClient(sampling), 0, `{}`}, {legacy(`{}`), 0, `{}`}},
		},
		"a server that is to be spoken to in the modern era needs one connection": {
			eras: "both", settings: upstream.Settings{Protocol: upstream.ProtocolModern},
			steps: []step{{legacy(roots), 0, `{}`}, {modernClient(sampling), 0, `{}`}},
		},
		"a server of both eras is spoken to in the client's": {
			eras:  "both",
			steps: []step{{modernClient(roots), 1, `{}`}, {modernClient(sampling), 1, `{}`}, {legacy(roots), 2, roots}, {legacy(`{}`), 0, `{}`}},
		},
		"a legacy server serves modern clients as legacy ones with their capabilities": {
			steps: []step{{modernClient(roots), 2, roots}, {modernClient(`{}`), 0, `{}`}, {modernClient(roots), 2, roots}},
		},
		"a server that is to be spoken to in the legacy era is not tried in the other": {
			eras: "both", settings: upstream.Settings{Protocol: upstream.ProtocolLegacy},
			steps: []step{{modernClient(roots), 1, roots}, {modernClient(`{}`), 0, `{}`}},
		},
		"sessions of an isolated server have connections of their own": {
			settings: upstream.Settings{Isolation: upstream.IsolationPerSession},
			steps:    []step{{legacy(roots), 1, roots}, {legacy(roots), 2, roots}, {legacy(`{}`), 3, `{}`}, {once, 4, roots}, {once, 4, roots}},
		},
		"without eagerness the first client's connection is the only one": {
			lazy:  true,
			steps: []step{{legacy(roots), 1, roots}, {legacy(roots), 1, roots}},
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
				set.ID, set.Builtin = "a", "fake"
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

// A client without a session has not gone for good: it may come again any time.
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
			t.Errorf("%d connections, want the base", n)
		}
	})
}

func TestConnectionsLingerAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, Linger: time.Minute}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		connections := func() int { return f.Status()[0].Connections }

		m := f.Join(legacy(`{"roots":{}}`), nil)
		placeOf(t, m, "a")
		if n := connections(); n != 2 {
			t.Fatalf("%d connections, want 2", n)
		}
		m.Leave()
		m.Leave()
		time.Sleep(59 * time.Second)
		again := f.Join(legacy(`{"roots":{}}`), nil)
		if at := placeOf(t, again, "a"); at != 1 {
			t.Errorf("served on connection %d, want the one that lingers", at)
		}
		time.Sleep(time.Hour)
		if n := connections(); n != 2 {
			t.Errorf("%d connections while one is in use, want 2", n)
		}
		again.Leave()
		time.Sleep(40 * time.Second)
		brief := f.Join(legacy(`{"roots":{}}`), nil)
		placeOf(t, brief, "a")
		brief.Leave()
		time.Sleep(50 * time.Second)
		if n := connections(); n != 2 {
			t.Errorf("%d connections, want 2: the linger begins anew with each user", n)
		}
		time.Sleep(11 * time.Second)
		if n := connections(); n != 1 {
			t.Errorf("%d connections after the linger, want the base", n)
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

func TestFullPoolEndsWhatNobodyUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, MaxConnections: 1}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		placeOf(t, m, "a")
		m.Leave()
		hasty := f.Join(legacy(`{"sampling":{}}`), nil)
		defer hasty.Leave()
		if at := placeOf(t, hasty, "a"); at != 0 {
			t.Errorf("served on connection %d, want the base: one that was used just now is not ended", at)
		}
		time.Sleep(roomAfter)
		other := f.Join(legacy(`{"sampling":{}}`), nil)
		defer other.Leave()
		if at := placeOf(t, other, "a"); at != 2 {
			t.Errorf("served on connection %d, want a new one in place of the idle one", at)
		}
	})
}

func TestServerThatRunsOnlyOnceIsUsedThroughItsBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.lonely = true
		f := poolOf(t, Options{Eager: true}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		defer m.Leave()
		if at := placeOf(t, m, "a"); at != 0 {
			t.Errorf("served on connection %d, want the base", at)
		}
		other := f.Join(legacy(`{"sampling":{}}`), nil)
		defer other.Leave()
		began := time.Now()
		if at := placeOf(t, other, "a"); at != 0 || time.Since(began) > 0 {
			t.Errorf("served on connection %d after %s, want the base at once", at, time.Since(began))
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

func TestConnectionIsKeptForACallThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.answers["slow"] = func() []byte { time.Sleep(25 * time.Second); return []byte(`{}`) }
		f := poolOf(t, Options{Eager: true, Linger: time.Second}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		c, err := m.Conn(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		var call sync.WaitGroup
		call.Go(func() {
			req := rpc.NewRequest(rpc.StringID("1"), "slow", nil)
			if _, err := c.Call(t.Context(), &req, upstream.CallOptions{}); err != nil {
				t.Errorf("Call: %v", err)
			}
		})
		synctest.Wait()
		m.Leave()
		call.Wait()
		time.Sleep(time.Minute)
		if n := f.Status()[0].Connections; n != 1 {
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
