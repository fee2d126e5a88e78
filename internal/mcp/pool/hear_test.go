package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// hall is a pool of one server, with members that listen.
type hall struct {
	*Pool
	server *fake
	stop   func()
}

func openHall(t *testing.T, eras string) *hall {
	t.Helper()
	s := newFake(t, "x")
	s.eras = eras
	f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": s})
	return &hall{f, s, run(t, f)}
}

func (h *hall) join(t *testing.T, c Client) (*Member, *ears) {
	t.Helper()
	e := &ears{}
	m := h.Join(c, e)
	t.Cleanup(m.Leave)
	m.Peers(t.Context())
	return m, e
}

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

func TestSubscriptionsAreSharedAndRefcounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		one, e1 := h.join(t, legacy(`{}`))
		two, e2 := h.join(t, legacy(`{}`))
		for _, m := range []*Member{one, two, one} {
			if err := m.Subscribe(t.Context(), "a", "file:///a"); err != nil {
				t.Fatal(err)
			}
		}
		if n := h.server.count("resources/subscribe"); n != 1 {
			t.Errorf("the server was told %d times", n)
		}
		h.server.place(0).send(updated("file:///a"))
		wantHeard(t, e1, `a notifications/resources/updated {"uri":"file:///a"}`)
		wantHeard(t, e2, `a notifications/resources/updated {"uri":"file:///a"}`)

		if err := one.Unsubscribe(t.Context(), "a", "file:///a"); err != nil {
			t.Fatal(err)
		}
		if err := one.Unsubscribe(t.Context(), "a", "never"); err != nil {
			t.Fatal(err)
		}
		h.server.place(0).send(updated("file:///a"))
		wantHeard(t, e1)
		wantHeard(t, e2, `a notifications/resources/updated {"uri":"file:///a"}`)
		if n := h.server.count("resources/unsubscribe"); n != 0 {
			t.Errorf("the server was told to stop while one still listens")
		}
		two.Leave()
		synctest.Wait()
		if got := h.server.subscribed(); len(got) != 0 {
			t.Errorf("left behind: %q", got)
		}
		h.server.place(0).send(updated("file:///a"))
		wantHeard(t, e2)
	})
}

func TestWhichUpdatesASubscriberHears(t *testing.T) {
	for _, c := range []struct {
		subscribed, updated string
		heard               bool
	}{
		{"file:///a", "file:///a", true},
		{"file:///a", "file:///a/b", true},
		{"file:///a", "file:///a?x", true},
		{"file:///a", "file:///a#x", true},
		{"file:///a/", "file:///a/b", true},
		{"file:///a", "file:///ab", false},
		{"file:///a", "file:///", false},
		{"file:///a/b", "file:///a", false},
		{"file:///A", "file:///a", false},
		{"é", "é/x", true},
	} {
		t.Run(c.subscribed+" "+c.updated, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := openHall(t, "legacy")
				defer h.stop()
				m, e := h.join(t, legacy(`{}`))
				if err := m.Subscribe(t.Context(), "a", c.subscribed); err != nil {
					t.Fatal(err)
				}
				h.server.place(0).send(updated(c.updated))
				if heard := len(e.all()) > 0; heard != c.heard {
					t.Errorf("heard: %v, want %v", heard, c.heard)
				}
			})
		})
	}
}

func TestSubscriptionsOutliveTheirServer(t *testing.T) {
	for _, eras := range []string{"legacy", "modern"} {
		synctest.Test(t, func(t *testing.T) {
			h := openHall(t, eras)
			defer h.stop()
			m, _ := h.join(t, legacy(`{}`))
			if err := m.Subscribe(t.Context(), "a", "u"); err != nil {
				t.Fatal(err)
			}
			if err := m.SetLevel(t.Context(), "warning"); err != nil {
				t.Fatal(err)
			}
			h.server.set(func() { clear(h.server.subs); h.server.levels, h.server.listens = nil, nil })
			restart(h.server)
			time.Sleep(time.Minute)
			h.server.set(func() {
				switch {
				case eras == "legacy" && (h.server.subs["u"] != 1 || !slices.Equal(h.server.levels, []string{"warning"})):
					t.Errorf("after the restart: %v %v", h.server.subs, h.server.levels)
				case eras == "modern" && (len(h.server.listens) != 1 || !strings.Contains(h.server.listens[0], `"u"`)):
					t.Errorf("after the restart: %q", h.server.listens)
				}
			})
		})
	}
}

func TestRefusedSubscriptionIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		eras   string
		change func(s *fake)
		code   int
	}{
		"legacy":                           {"legacy", func(s *fake) { s.refuse["resources/subscribe"] = -32002 }, -32002},
		"modern":                           {"modern", func(s *fake) { s.refuse["subscriptions/listen"] = -32601 }, -32601},
		"modern, the resource not granted": {"modern", func(s *fake) { s.grants = []string{"another"} }, -32602},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := openHall(t, c.eras)
				defer h.stop()
				m, e := h.join(t, legacy(`{}`))
				synctest.Wait()
				h.server.set(func() { c.change(h.server) })
				err := m.Subscribe(t.Context(), "a", "u")
				if refused, ok := errors.AsType[*ServerError](err); !ok || refused.Code != c.code || !strings.Contains(string(refused.Object), fmt.Sprint(c.code)) {
					t.Fatalf("Subscribe: %v, want the server's error %d", err, c.code)
				}
				h.server.place(0).send(updated("u"))
				wantHeard(t, e)
				began := time.Now()
				for range 50 { // at different moments of the work that the refusal started
					_ = m.Subscribe(t.Context(), "a", "u")
					h.server.set(func() { clear(h.server.refuse); h.server.grants = nil })
					if err := m.Subscribe(t.Context(), "a", "u"); err != nil {
						t.Fatalf("again: %v", err)
					}
					_ = m.Unsubscribe(t.Context(), "a", "u")
					h.server.set(func() { c.change(h.server) })
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestSubscriptionsOfAMemberAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		m, _ := h.join(t, legacy(`{}`))
		for i := range maxSubscriptions {
			if err := m.Subscribe(t.Context(), "a", fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Subscribe(t.Context(), "a", "one more"); !errors.Is(err, ErrTooMany) {
			t.Errorf("Subscribe: %v, want ErrTooMany", err)
		}
		if err := m.Subscribe(t.Context(), "a", "7"); err != nil {
			t.Errorf("one that it has: %v", err)
		}
	})
}

func TestModernServerIsListenedToOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "modern")
		defer h.stop()
		one, e1 := h.join(t, modernClient(`{}`))
		two, _ := h.join(t, legacy(`{}`))
		wantTools(t, one, "a::x")
		open := func() int { // requests pending at the server, after the barrier and the lists
			synctest.Wait()
			return h.Status()[0].InFlight
		}
		const lists = `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true`
		synctest.Wait()
		if got := h.server.listens; !slices.Equal(got, []string{lists + `}}`}) || open() != 1 {
			t.Errorf("listens %q, %d open", got, open())
		}
		for i, m := range []*Member{one, two, two} {
			if err := m.Subscribe(t.Context(), "a", []string{"v", "u", "v"}[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{lists + `}}`, lists + `,"resourceSubscriptions":["v"]}}`, lists + `,"resourceSubscriptions":["u","v"]}}`}
		if got := h.server.listens; !slices.Equal(got, want) || open() != 1 {
			t.Errorf("listens %q, %d open", got, open())
		}
		h.server.place(0).send(updated("v"))
		h.server.place(0).send(updated("u"))
		wantHeard(t, e1, `a notifications/resources/updated {"uri":"v"}`)
		two.Leave()
		want = append(want, lists+`,"resourceSubscriptions":["v"]}}`)
		synctest.Wait()
		if got := h.server.listens; !slices.Equal(got, want) || open() != 1 {
			t.Errorf("after Leave: listens %q, %d open", got, open())
		}
		h.server.set(func() { h.server.lists["tools"] = []string{"z"} })
		h.server.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		wantHeard(t, e1, "changed tools")
	})
}

func TestListeningBeginsAgainWhenItEnds(t *testing.T) {
	for name, end := range map[string]func(s *fake){
		"with a result": func(s *fake) { s.set(func() { close(s.hangup); s.hangup = make(chan struct{}) }) },
		"with a cancel": func(s *fake) {
			s.place(0).send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
		"and the server is new": restart,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := openHall(t, "modern")
				defer h.stop()
				m, e := h.join(t, legacy(`{}`))
				wantTools(t, m, "a::x")
				end(h.server)
				// and does not announce it
				h.server.set(func() { h.server.lists["tools"] = []string{"z"} })
				time.Sleep(time.Minute)
				if n := h.server.count("subscriptions/listen"); n != 2 {
					t.Errorf("%d requests, want 2", n)
				}
				wantHeard(t, e, "changed tools")
			})
		})
	}
}

func TestListeningThatNeverLastsIsTriedLessAndLess(t *testing.T) {
	for _, c := range []struct {
		code     int
		min, max int // requests in ten minutes
	}{{wire.CodeInternal, 8, 30}, {wire.CodeMethodNotFound, 1, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := newFake(t, "x")
			s.eras = "modern"
			s.refuse["subscriptions/listen"] = c.code
			f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": s})
			stop := run(t, f)
			defer stop()
			m := f.Join(legacy(`{}`), nil)
			defer m.Leave()
			wantTools(t, m, "a::x")
			time.Sleep(10 * time.Minute)
			if n := s.count("subscriptions/listen"); n < c.min || n > c.max {
				t.Errorf("error %d: %d requests in ten minutes, want %d to %d", c.code, n, c.min, c.max)
			}
		})
	}
}

func TestLogsAreFilteredByEachMembersLevel(t *testing.T) {
	logged := func(level string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `"}}`
	}
	heard := func(level string) string { return `a notifications/message {"level":"` + level + `"}` }
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		_, silent := h.join(t, legacy(`{}`))
		h.server.place(0).send(logged("debug"))
		wantHeard(t, silent, heard("debug")) // sent by the server by default

		errs, e1 := h.join(t, legacy(`{}`))
		debug, e2 := h.join(t, legacy(`{}`))
		if err := errs.SetLevel(t.Context(), "loud"); !errors.Is(err, ErrUnknownLevel) {
			t.Errorf("SetLevel: %v, want ErrUnknownLevel", err)
		}
		for _, set := range []struct {
			m     *Member
			level string
		}{{errs, "error"}, {debug, "debug"}, {errs, "warning"}} {
			if err := set.m.SetLevel(t.Context(), set.level); err != nil {
				t.Fatal(err)
			}
		}
		for _, level := range []string{"debug", "info", "warning", "emergency", "odd"} {
			h.server.place(0).send(logged(level))
		}
		wantHeard(t, silent, heard("info"), heard("warning"), heard("emergency"), heard("odd"))
		wantHeard(t, e1, heard("warning"), heard("emergency"), heard("odd"))
		wantHeard(t, e2, heard("debug"), heard("info"), heard("warning"), heard("emergency"), heard("odd"))
		debug.Leave()
		synctest.Wait()
		if got := h.server.levels; !slices.Equal(got, []string{"error", "debug", "warning"}) {
			t.Errorf("the server was told %q", got)
		}
		h.server.place(0).send(logged("debug"))
		wantHeard(t, silent)
	})
}

func TestLevelGoesToConnectionsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.dead = true
		f := poolOf(t, Options{FirstListWait: time.Second, Eager: true}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{"roots":{}}`), nil)
		defer m.Leave()
		began := time.Now()
		if err := m.SetLevel(t.Context(), "error"); err != nil || time.Since(began) > time.Second {
			t.Errorf("SetLevel: %v after %s", err, time.Since(began))
		}
		s.set(func() { s.dead = false })
		time.Sleep(2 * time.Minute)
		placeOf(t, m, "a")
		if !slices.Equal(s.levels, []string{"error"}) {
			t.Errorf("the server was told %q", s.levels)
		}
	})
}

func TestRequestsOutsideCallsGoToTheOnlyMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		ask := func(method string) string {
			t.Helper()
			return string(h.server.place(0).send(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{}}`))
		}
		const ok = `{"jsonrpc":"2.0","id":7,"result":{}}`
		one, e1 := h.join(t, legacy(`{"sampling":{}}`))
		if got := ask("sampling/createMessage"); got != ok {
			t.Errorf("answer %s", got)
		}
		wantHeard(t, e1, "a asks sampling/createMessage")
		for _, method := range []string{"elicitation/create", "unknown"} {
			if got := ask(method); !strings.Contains(got, "-32601") {
				t.Errorf("%s: answer %s", method, got)
			}
		}
		_, e2 := h.join(t, legacy(`{}`))
		if got := ask("sampling/createMessage"); !strings.Contains(got, "-32601") {
			t.Errorf("with two who may be meant: answer %s", got)
		}
		wantHeard(t, e1)
		wantHeard(t, e2)
		one.Leave()
		if got := ask("sampling/createMessage"); !strings.Contains(got, "-32601") {
			t.Errorf("with one who cannot: answer %s", got)
		}
		wantHeard(t, e2)
	})
}

// A server that requests roots gets those of all its clients immediately, and is notified when they
// change.
func TestRootsOfAllMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		changes := func() int { time.Sleep(time.Second); return h.server.count(rootsChanged) }
		want := func(when, roots string) {
			t.Helper()
			began := time.Now()
			got := string(h.server.place(0).send(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`))
			if took := time.Since(began); got != `{"jsonrpc":"2.0","id":7,"result":{"roots":[`+roots+`]}}` || took > 0 {
				t.Errorf("%s: answer %s after %s, want %s at once", when, got, took, roots)
			}
		}
		one, e1 := h.join(t, legacy(`{"roots":{}}`))
		one.SetRoots([]byte(`{"roots":[{"uri":"file:///a","name":"A","x":1.0},{"uri":"file:///b"},{"name":"none"}]}`))
		if n := changes(); n != 0 {
			t.Errorf("a server that never asked was told %d times", n)
		}
		want("one client", `{"uri":"file:///a","name":"A","x":1.0},{"uri":"file:///b"}`)
		two, _ := h.join(t, legacy(`{"roots":{}}`))
		two.SetRoots([]byte(`{"roots":[{"uri":"file:///b","name":"again"},{"uri":"file:///c"}]}`))
		if n := changes(); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		want("two clients", `{"uri":"file:///a","name":"A","x":1.0},{"uri":"file:///b"},{"uri":"file:///c"}`)
		two.SetRoots([]byte(`{"roots":[{"uri":"file:///b","name":"again"},{"uri":"file:///c"}]}`))
		if n := changes(); n != 1 {
			t.Errorf("told %d times of what is as before", n-1)
		}
		one.Leave()
		if n := changes(); n != 2 {
			t.Errorf("told %d times, want twice", n)
		}
		want("one has left", `{"uri":"file:///b","name":"again"},{"uri":"file:///c"}`)
		two.SetRoots(nil)
		want("no more roots", ``)
		wantHeard(t, e1)
	})
}

// A client that has just joined may still be about to report its roots.
func TestRootsAreWaitedForBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openHall(t, "legacy")
		defer h.stop()
		ask := func() (string, time.Duration) {
			began := time.Now()
			got := h.server.place(0).send(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
			return string(got), time.Since(began)
		}
		m, _ := h.join(t, legacy(`{"roots":{}}`))
		time.AfterFunc(time.Second, func() { m.SetRoots([]byte(`{"roots":[{"uri":"file:///a"}]}`)) })
		if got, took := ask(); !strings.Contains(got, "file:///a") || took != time.Second {
			t.Errorf("answer %s after %s", got, took)
		}
		h.join(t, legacy(`{"roots":{}}`)) // never reports any
		if got, took := ask(); !strings.Contains(got, "file:///a") || took != rootsTime {
			t.Errorf("answer %s after %s", got, took)
		}
		if got, took := ask(); !strings.Contains(got, "file:///a") || took != 0 {
			t.Errorf("answer %s after %s", got, took)
		}
	})
}

func TestWhichNotificationsArePassedOn(t *testing.T) {
	for method, passed := range map[string]bool{
		"notifications/cancelled":                  false,
		"notifications/progress":                   false,
		"notifications/tools/list_changed":         false,
		"notifications/resources/list_changed":     false,
		"notifications/prompts/list_changed":       false,
		"notifications/subscriptions/acknowledged": false,
		"notifications/resources/updated":          false, // only to subscribers
		"notifications/elicitation/complete":       true,
		"notifications/vendor":                     true,
		"notifications/message":                    true,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := openHall(t, "legacy")
			defer h.stop()
			_, e1 := h.join(t, legacy(`{}`))
			_, e2 := h.join(t, legacy(`{}`))
			h.server.place(0).send(`{"jsonrpc":"2.0","method":"` + method + `"}`)
			time.Sleep(time.Second)
			if n1, n2 := len(e1.all()), len(e2.all()); passed != (n1 == 1) || passed != (n2 == 1) || n1 > 1 || n2 > 1 {
				t.Errorf("%s: heard %d and %d times, passed on should be %v", method, n1, n2, passed)
			}
		})
	}
}

func TestMovedMembersKeepTheirSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, "x")
		s.eras = "both"
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": s})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		m := f.Join(modernClient(`{}`), e)
		defer m.Leave()
		if err := m.Subscribe(t.Context(), "a", "u"); err != nil {
			t.Fatal(err)
		}
		c, err := m.Conn(t.Context(), "a")
		if err != nil || c.Era() != era.Modern {
			t.Fatalf("Conn: %v, %v", c, err)
		}
		f.mu.Lock()
		c.end()
		f.mu.Unlock()
		s.set(func() { s.listens = nil })
		c2, err := m.Conn(t.Context(), "a")
		if err != nil || c2 == c {
			t.Fatalf("Conn: the old one, %v", err)
		}
		synctest.Wait()
		s.place(len(s.places) - 1).send(updated("u"))
		wantHeard(t, e, `a notifications/resources/updated {"uri":"u"}`)
		if len(s.listens) == 0 || !strings.Contains(s.listens[len(s.listens)-1], `["u"]`) {
			t.Errorf("listens %q", s.listens)
		}
	})
}
