package pool

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// settingsOf returns the settings of fakes, in this order.
func settingsOf(ids ...string) (all []upstream.Settings) {
	for _, id := range ids {
		all = append(all, upstream.Settings{ID: id, Builtin: "fake", StartupTimeout: 20 * time.Second})
	}
	return all
}

func reload(t *testing.T, f *Pool, set Servers) {
	t.Helper()
	if err := f.Reload(set, nil); err != nil {
		t.Fatalf("Reload: %v", err)
	}
	synctest.Wait()
}

// ended reports whether a connection of a fake has been ended.
func (s *fake) ended(i int) bool {
	c := s.place(i).Incoming.(*Conn)
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	return c.gone
}

func TestReloadKeepsWhatIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newFake(t, "x"), newFake(t, "y"), newFake(t, "z")
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second, Servers: settingsOf("a", "b")}, map[string]*fake{"a": a, "b": b, "c": c})
		run(t, f)
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		wantTools(t, m, "a::x", "b::y")
		reload(t, f, Servers{Settings: settingsOf("c", "a"), FirstListWait: time.Second})
		time.Sleep(time.Second)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "c::z", "a::x")
		if a.connections() != 1 || c.connections() != 1 || !b.ended(0) {
			t.Errorf("a has %d connections, c %d, b is over: %t; want 1, 1, true", a.connections(), c.connections(), b.ended(0))
		}
		if _, err := m.Conn(t.Context(), "b"); !errors.Is(err, ErrUnknownServer) {
			t.Errorf("Conn(b): %v, want ErrUnknownServer", err)
		}
		if placeOf(t, m, "a") != 0 || placeOf(t, m, "c") != 0 {
			t.Error("calls arrive elsewhere")
		}
		if !slices.Equal(f.IDs(), []string{"c", "a"}) {
			t.Errorf("IDs() = %q", f.IDs())
		}
	})
}

func TestReloadOfAChangedServerDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		hang := make(chan struct{})
		a.answers["slow"] = func() []byte {
			<-hang
			return []byte(`{}`)
		}
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second}, map[string]*fake{"a": a})
		run(t, f)
		m := f.Join(legacy(`{}`), &ears{})
		conn, release, err := m.Hold(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		up, letGo := f.Shared("a")
		var calls sync.WaitGroup
		req := wire.NewRequest(wire.StringID("1"), "slow", nil)
		calls.Go(func() {
			defer release()
			if _, err := conn.Call(t.Context(), &req, upstream.CallOptions{Patient: true}); err != nil {
				t.Errorf("a call in flight: %v", err)
			}
		})
		synctest.Wait()
		reload(t, f, Servers{Settings: settingsOf("a"), Changed: []string{"a"}})
		if placeOf(t, m, "a") != 1 {
			t.Error("a new call goes to the old connection")
		}
		time.Sleep(time.Hour)
		if a.ended(0) {
			t.Error("the connection ended before its call")
		}
		close(hang)
		calls.Wait()
		if synctest.Wait(); a.ended(0) {
			t.Error("the connection ended before its holder let go")
		}
		if _, err := up.Call(t.Context(), &req); err != nil {
			t.Errorf("the call of a holder: %v", err)
		}
		letGo()
		if synctest.Wait(); !a.ended(0) {
			t.Error("the connection outlives its last call")
		}
	})
}

func TestReloadMovesWhatMembersSubscribedTo(t *testing.T) {
	for name, eager := range map[string]bool{"eager": true, "lazy": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFake(t, "x")
				a.lists["resources"] = []string{"file:///a"}
				f := poolOf(t, Options{Eager: eager, FirstListWait: time.Second}, map[string]*fake{"a": a})
				run(t, f)
				e := &ears{}
				m := f.Join(legacy(`{}`), e)
				if err := m.Subscribe(t.Context(), "a", "file:///a"); err != nil {
					t.Fatal(err)
				}
				if err := m.SetLevel(t.Context(), "warning"); err != nil {
					t.Fatal(err)
				}
				a.set(func() { clear(a.subs); a.levels = nil })
				reload(t, f, Servers{Settings: settingsOf("a"), Changed: []string{"a"}})
				if got := a.subscribed(); !slices.Equal(got, []string{"file:///a"}) {
					t.Errorf("the new server was told of subscriptions to %q", got)
				}
				if !slices.Equal(a.levels, []string{"warning"}) {
					t.Errorf("the new server was told the levels %q", a.levels)
				}
				if !a.ended(0) {
					t.Error("the old connection is still there")
				}
				a.place(a.connections() - 1).send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`)
				synctest.Wait()
				if got := e.all(); !slices.Contains(got, `a notifications/resources/updated {"uri":"file:///a"}`) {
					t.Errorf("heard %q", got)
				}
			})
		})
	}
}

// The old list is used until the new server has listed, so that no tools vanish and come back.
func TestReloadOfAServerThatIsSlowToStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second}, map[string]*fake{"a": a})
		run(t, f)
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		wantTools(t, m, "a::x")
		a.set(func() { a.dead, a.lists["tools"] = true, []string{"new"} })
		reload(t, f, Servers{Settings: settingsOf("a"), Changed: []string{"a"}})
		wantTools(t, m, "a::x")
		wantHeard(t, e)
		a.set(func() { a.dead = false })
		time.Sleep(time.Minute)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "a::new")
	})
}

func TestReloadThatCannotBeBuiltChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second, Servers: settingsOf("a")}, map[string]*fake{"a": a, "b": newFake(t)})
		run(t, f)
		bad := append(settingsOf("a"), upstream.Settings{ID: "b"})
		if err := f.Reload(Servers{Settings: bad, Changed: []string{"a"}}, nil); err == nil {
			t.Fatal("a server without a command was taken")
		}
		m := f.Join(legacy(`{}`), nil)
		wantTools(t, m, "a::x")
		if placeOf(t, m, "a") != 0 {
			t.Error("the server was replaced")
		}
	})
}

func TestReloadSwitchesServersOffAndOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second}, map[string]*fake{"a": a})
		run(t, f)
		m := f.Join(legacy(`{}`), nil)
		wantTools(t, m, "a::x")
		off := settingsOf("a")
		off[0].Disabled = true
		reload(t, f, Servers{Settings: off, Changed: []string{"a"}})
		if up, _ := f.Shared("a"); up != nil || !f.IsDisabled("a") || len(f.IDs()) != 0 {
			t.Error("it is still there")
		}
		wantTools(t, m)
		reload(t, f, Servers{Settings: settingsOf("a"), Changed: []string{"a"}, FirstListWait: time.Second})
		wantTools(t, m, "a::x")
	})
}

// TestReloadUnderLoad reloads while members do everything concurrently. No call fails.
func TestReloadUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake(t, "x"), newFake(t, "y")
		b.eras = "both"
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second, Servers: settingsOf("a", "b")}, map[string]*fake{"a": a, "b": b, "c": newFake(t, "z")})
		run(t, f)
		stop := make(chan struct{})
		var work sync.WaitGroup
		for i := range 8 {
			work.Go(func() {
				for n := 0; !isClosed(stop); n++ {
					client := legacy(`{}`)
					if (n+i)%2 == 0 {
						client = modernClient(`{}`)
					}
					m := f.Join(client, &ears{})
					for _, id := range []string{"a", "b"} {
						c, release, err := m.Hold(t.Context(), id)
						if err != nil {
							t.Errorf("Hold(%s): %v", id, err)
							continue
						}
						req := wire.NewRequest(wire.StringID("me"), "tools/call", []byte(`{"name":"x"}`))
						if _, err := c.Call(t.Context(), &req, upstream.CallOptions{}); err != nil {
							t.Errorf("call of %s: %v", id, err)
						}
						release()
						up, release := f.Shared(id)
						if _, err := up.Call(t.Context(), &req); err != nil {
							t.Errorf("shared call of %s: %v", id, err)
						}
						release()
					}
					m.Catalog(t.Context())
					m.Leave()
					time.Sleep(time.Millisecond)
				}
			})
		}
		for n := range 100 {
			set := Servers{Settings: settingsOf("a", "b", "c")[:2+n%2], FirstListWait: time.Second}
			if n%3 == 0 {
				set.Changed = []string{"b"}
			}
			if err := f.Reload(set, nil); err != nil {
				t.Error(err)
			}
			time.Sleep(3 * time.Millisecond)
		}
		close(stop)
		work.Wait()
		if a.connections() != 1 {
			t.Errorf("a, which never changed, has had %d connections", a.connections())
		}
	})
}
