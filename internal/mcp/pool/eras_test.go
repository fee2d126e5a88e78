package pool

import (
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

func TestErasAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{Eager: true}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for range 5 {
			m := f.Join(modernClient(`{}`), nil)
			if at := placeOf(t, m, "a"); at != 0 {
				t.Errorf("served on connection %d, want the shared one", at)
			}
			m.Leave()
			time.Sleep(time.Hour)
		}
		if n := s.count("server/discover"); n != 1 {
			t.Errorf("tried %d times, want once", n)
		}
		s.set(func() { s.name, s.eras = "another", "both" })
		restart(s)
		time.Sleep(time.Minute)
		m := f.Join(modernClient(`{}`), nil)
		defer m.Leave()
		if c, err := m.Conn(t.Context(), "a"); err != nil || c.Era() != era.Modern {
			t.Errorf("after the server became another: era %v, %v; want modern", c.Era(), err)
		}
	})
}

// A silent server is asked in the background. A modern client's first call waits for that, but not
// for long.
func TestServerThatIsSilentInTheModernEraIsLegacy(t *testing.T) {
	for _, url := range []string{"", "http://127.0.0.1:1"} {
		synctest.Test(t, func(t *testing.T) {
			s := newFake(t, "x")
			s.answers["server/discover"] = func() []byte { time.Sleep(time.Minute); return []byte(`{}`) }
			set := upstream.Settings{ID: "a", URL: url}
			if url == "" {
				set.Builtin = "fake"
			}
			f := poolOf(t, Options{Eager: true, Servers: []upstream.Settings{set}}, map[string]*fake{"a": s})
			stop := run(t, f)
			m := f.Join(modernClient(`{}`), nil)
			began := time.Now()
			m.Peers(t.Context())
			if took := time.Since(began); took > 0 {
				t.Errorf("Peers took %s", took)
			}
			if at := placeOf(t, m, "a"); at != 0 || time.Since(began) != eraTimeout {
				t.Errorf("served on connection %d after %s, want the shared one after %s", at, time.Since(began), eraTimeout)
			}
			m.Leave()
			stop()
			time.Sleep(time.Minute) // for the answer that is dropped
		})
	}
}

// A server that crashes on the question is not asked again.
func TestServerThatDiesOfTheQuestionIsLegacy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.answers["server/discover"] = func() []byte { s.set(func() { s.dead = true }); restart(s); return nil }
		f := poolOf(t, Options{Eager: true}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for range 5 {
			m := f.Join(modernClient(`{}`), nil)
			m.Peers(t.Context())
			time.Sleep(time.Minute)
			s.set(func() { s.dead = false })
			time.Sleep(time.Minute)
			if at := placeOf(t, m, "a"); at != 0 {
				t.Errorf("served on connection %d, want the shared one", at)
			}
			m.Leave()
		}
		if n := s.count("server/discover"); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

func TestServerThatWasNotThereIsAskedLater(t *testing.T) {
	for _, eager := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newFake(t, "x")
			s.eras, s.dead = "both", true
			f := poolOf(t, Options{Eager: eager, FirstListWait: 30 * time.Second}, map[string]*fake{"a": s})
			stop := run(t, f)
			defer stop()
			m := f.Join(modernClient(`{}`), nil)
			m.Catalog(t.Context())
			s.set(func() { s.dead = false })
			time.Sleep(5 * time.Minute)
			if c, err := m.Conn(t.Context(), "a"); err != nil || c.Era() != era.Modern {
				t.Errorf("eager %v: era %q, %v; want modern", eager, c.Era(), err)
			}
			m.Leave()
		})
	}
}

func TestErasAreAskedOnceWithoutEagernessToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		f := poolOf(t, Options{}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for range 3 {
			m := f.Join(modernClient(`{"roots":{}}`), nil)
			placeOf(t, m, "a")
			m.Leave()
			time.Sleep(time.Hour)
		}
		if n := s.count("server/discover"); n != 1 {
			t.Errorf("tried %d times, want once", n)
		}
	})
}

func TestModernConnectionComesBackUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.eras = "both"
		f := poolOf(t, Options{Eager: true, Linger: time.Minute}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		for i := range 2 {
			m := f.Join(modernClient(`{}`), nil)
			if at := placeOf(t, m, "a"); at != i+1 {
				t.Errorf("served on connection %d, want %d", at, i+1)
			}
			m.Leave()
			time.Sleep(time.Hour)
			if n := f.Status()[0].Connections; n != 1 {
				t.Errorf("%d connections after the linger", n)
			}
		}
		s.set(func() { s.eras = "legacy" })
		m := f.Join(modernClient(`{}`), nil)
		defer m.Leave()
		if at := placeOf(t, m, "a"); at != 0 {
			t.Errorf("served on connection %d of a server that does not speak the modern era any more, want the shared one", at)
		}
	})
}

func TestModernSessionsOfAnIsolatedServer(t *testing.T) {
	for eras, want := range map[string]era.Era{"both": era.Modern, "legacy": era.Legacy} {
		synctest.Test(t, func(t *testing.T) {
			s := newFake(t, "x")
			s.eras = eras
			f := poolOf(t, Options{
				Servers: []upstream.Settings{{ID: "a", Builtin: "fake", Isolation: upstream.IsolationPerSession}},
			}, map[string]*fake{"a": s})
			stop := run(t, f)
			defer stop()
			client := modernClient(`{"roots":{}}`)
			client.Session = true
			one, two := f.Join(client, nil), f.Join(client, nil)
			if placeOf(t, one, "a") == placeOf(t, two, "a") {
				t.Error("two sessions share a connection")
			}
			if c, err := one.Conn(t.Context(), "a"); err != nil || c.Era() != want {
				t.Errorf("server of %s: era %s, %v; want %s", eras, c.Era(), err, want)
			}
			one.Leave()
			two.Leave()
			time.Sleep(time.Minute)
			if n := f.Status()[0].Connections; n != 0 {
				t.Errorf("%d connections are left", n)
			}
		})
	}
}
