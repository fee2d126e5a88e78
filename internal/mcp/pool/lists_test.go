package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

func TestListsOfAllServersAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake(t, "x", "y", "z"), newFake(t, "x")
		a.pages = 2
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "b": b})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		wantTools(t, m, "a::x", "a::y", "a::z", "b::x")
		only := f.Join(Client{Era: era.Legacy, Only: "b"}, nil)
		defer only.Leave()
		wantTools(t, only, "b::x")
		if _, err := only.Conn(t.Context(), "a"); !strings.Contains(fmt.Sprint(err), ErrUnknownServer.Error()) {
			t.Errorf("Conn to a server that the client does not see: %v", err)
		}
	})
}

// A server's lists arrive one by one, in any order. It counts as listed when the last is there.
func TestListedMeansAllLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		a.answers["tools/list"] = func() []byte {
			time.Sleep(5 * time.Second)
			return []byte(`{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`)
		}
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		time.Sleep(time.Second)
		if s := f.Status()[0]; s.State != upstream.Ready || s.Listed {
			t.Errorf("before its tools came: %s, listed %v", s.State, s.Listed)
		}
		time.Sleep(10 * time.Second)
		if s := f.Status()[0]; !s.Listed || s.Tools != 1 {
			t.Errorf("afterwards: listed %v, %d tools", s.Listed, s.Tools)
		}
	})
}

func TestMembersWhoSeeTheSameGetTheSameCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "b": newFake(t, "y")})
		stop := run(t, f)
		defer stop()
		var first *catalog.Catalog
		for i := range 200 {
			client := legacy(`{}`)
			if i%2 == 1 {
				client = legacy(`{"roots":{}}`) // another connection, the same lists
			}
			m := f.Join(client, nil)
			defer m.Leave()
			got, _ := m.Catalog(t.Context())
			if first == nil {
				first = got
			}
			if got != first {
				t.Fatalf("member %d got a catalog of its own", i)
			}
		}
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		a.set(func() { a.lists["tools"] = []string{"x", "new"} })
		a.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		if got, _ := m.Catalog(t.Context()); got == first {
			t.Error("a change made no other catalog")
		}
	})
}

func TestDeadServerDelaysOnlyTheFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := newFake(t, "y")
		dead.dead = true
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": newFake(t, "x"), "dead": dead})
		stop := run(t, f)
		defer stop()
		want := 10 * time.Second
		for i := range 3 {
			for _, client := range []Client{legacy(`{}`), legacy(`{"roots":{}}`), modernClient(`{}`)} {
				m := f.Join(client, nil)
				defer m.Leave()
				began := time.Now()
				wantTools(t, m, "a::x")
				if took := time.Since(began); took != want {
					t.Errorf("list %d of %s %s took %s, want %s", i+1, client.Era, client.Capabilities, took, want)
				}
				want = 0
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestServerThatFailsAtOnceDelaysNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := newFake(t, "y")
		dead.refuse["initialize"] = wire.CodeInternal
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": newFake(t, "x"), "dead": dead})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		began := time.Now()
		wantTools(t, m, "a::x")
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %s", took)
		}
		if p := m.Peers(t.Context()); len(p) != 2 || p[0].Peer == nil || p[1].Peer != nil || p[1].Err == nil || p[1].Server != "dead" {
			t.Errorf("Peers() = %+v", p)
		}
	})
}

func TestServerThatComesLateIsAnnounced(t *testing.T) {
	for _, caps := range []string{`{}`, `{"roots":{}}`} {
		for _, eager := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				late := newFake(t, "y")
				late.dead = true
				f := poolOf(t, Options{Eager: eager, FirstListWait: 10 * time.Second}, map[string]*fake{"a": newFake(t, "x"), "late": late})
				stop := run(t, f)
				defer stop()
				e, unseen := &ears{}, &ears{}
				m := f.Join(legacy(caps), e)
				defer m.Leave()
				other := f.Join(legacy(caps), unseen)
				defer other.Leave()
				wantTools(t, m, "a::x")
				late.set(func() { late.dead = false })
				time.Sleep(2 * time.Minute)
				wantHeard(t, e, "changed tools")
				wantHeard(t, unseen)
				if n := f.Status()[1].Connections; n != 1 {
					t.Errorf("%d connections, want one", n)
				}
				wantTools(t, m, "a::x", "late::y")
				want := caps
				if eager {
					want = string(allCapabilities)
				}
				if c, err := m.Conn(t.Context(), "late"); err != nil || string(c.caps) != want {
					t.Errorf("Conn declares %s (%v), want %s", c.caps, err, want)
				}
			})
		}
	}
}

// A client that gives up before the first list is complete gets the available part before its
// timeout.
func TestImpatientClientsGetWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		client string
		waits  time.Duration
	}{
		{"", 8 * time.Second},
		{"claude-code", 8 * time.Second},
		{"streamable-http: http://127.0.0.1:8000/mcp", 4 * time.Second},
		{"mcp", 8 * time.Second}, // many programs, most of which wait, and list once
	} {
		synctest.Test(t, func(t *testing.T) {
			dead := newFake(t, "y")
			dead.dead = true
			f := poolOf(t, Options{Eager: true, FirstListWait: 8 * time.Second}, map[string]*fake{"a": newFake(t, "x"), "dead": dead})
			stop := run(t, f)
			defer stop()
			client := legacy(`{}`)
			client.Name = c.client
			m := f.Join(client, nil)
			defer m.Leave()
			began := time.Now()
			wantTools(t, m, "a::x")
			if took := time.Since(began); took != c.waits {
				t.Errorf("%q: its first list took %s, want %s", c.client, took, c.waits)
			}
		})
	}
}

// A client that reads the lists once gets them whole from a server that starts slowly. The others
// get the rest by list_changed. Missing names the server meanwhile.
func TestClientsThatListOnceWaitForSlowServers(t *testing.T) {
	for _, c := range []struct {
		client  string
		waits   time.Duration
		startup time.Duration // the server's startup_timeout
		want    []string
	}{
		{"mcp-inspector", 12 * time.Second, 20 * time.Second, []string{"a::x", "slow::y"}},
		{"", 12 * time.Second, 20 * time.Second, []string{"a::x", "slow::y"}},
		{"mcp", 12 * time.Second, 20 * time.Second, []string{"a::x", "slow::y"}},
		{"claude-code", 8 * time.Second, 20 * time.Second, []string{"a::x"}},
		{"stdio: secateur", 4 * time.Second, 20 * time.Second, []string{"a::x"}}, // it gives up after 5 s
		{"", 10 * time.Second, 10 * time.Second, []string{"a::x"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := newFake(t, "y")
			slow.answers["initialize"] = func() []byte {
				time.Sleep(12 * time.Second)
				return []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}`)
			}
			opt := Options{Eager: true, FirstListWait: 8 * time.Second, WaitForAll: true}
			for _, id := range []string{"a", "slow"} {
				opt.Servers = append(opt.Servers, upstream.Settings{ID: id, Builtin: "fake", Protocol: upstream.ProtocolLegacy, StartupTimeout: c.startup})
			}
			f := poolOf(t, opt, map[string]*fake{"a": newFake(t, "x"), "slow": slow})
			stop := run(t, f)
			defer stop()
			client := legacy(`{}`)
			client.Name = c.client
			m := f.Join(client, nil)
			defer m.Leave()
			began := time.Now()
			wantTools(t, m, c.want...)
			if took := time.Since(began); took != c.waits {
				t.Errorf("%q: its first list took %s, want %s", c.client, took, c.waits)
			}
			isMissing := len(c.want) == 1
			if got := m.Missing(catalog.Tools); slices.Contains(got, "slow") != isMissing || slices.Contains(got, "a") {
				t.Errorf("%q: Missing = %q with the tools %q", c.client, got, c.want)
			}
		})
	}
}

func TestListsOutliveTheirServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		defer m.Leave()
		wantTools(t, m, "a::x")
		a.set(func() { a.dead = true })
		time.Sleep(time.Minute)
		if st := f.Status()[0]; st.State == upstream.Ready {
			t.Fatalf("state %s", st.State)
		}
		began := time.Now()
		wantTools(t, m, "a::x")
		if p := m.Peers(t.Context()); p[0].Peer == nil || p[0].Peer.ServerName != "fake" {
			t.Errorf("Peers() = %+v", p)
		}
		newcomer := f.Join(legacy(`{"roots":{}}`), nil)
		wantTools(t, newcomer, "a::x")
		newcomer.Leave()
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("took %s", took)
		}
		a.set(func() { a.dead, a.lists["tools"] = false, []string{"z"} })
		time.Sleep(5 * time.Minute)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "a::z")
	})
}

func TestChangesAreToldOnceAndOnlyIfTheyAreOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake(t, "x"), newFake(t)
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "b": b})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		defer m.Leave()
		wantTools(t, m, "a::x")
		time.Sleep(time.Second)

		before, version := a.count("tools/list"), f.version
		for range 100 {
			a.place(0).sendChanged("tools")
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		wantHeard(t, e)
		if n := a.count("tools/list") - before; n < 1 || n > 3 {
			t.Errorf("a storm of changes cost %d fetches", n)
		}
		before = a.count("tools/list")
		for range 1000 {
			a.place(0).sendChanged("tools")
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if n := a.count("tools/list") - before; n < 5 || n > 12 {
			t.Errorf("five seconds of changes cost %d fetches", n)
		}
		wantHeard(t, e)
		if f.version != version {
			t.Error("members were compared though nothing has changed")
		}

		a.set(func() { a.lists["tools"] = []string{"x", "x2"} })
		b.set(func() { b.lists["tools"] = []string{"y"} })
		a.place(0).sendChanged("tools")
		b.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "a::x", "a::x2", "b::y")

		a.set(func() {
			a.lists["resourceTemplates"] = []string{"file:///{x}"}
			a.lists["resources"] = []string{"file:///a"}
			a.lists["prompts"] = []string{"p"}
		})
		a.place(0).sendChanged("resources")
		a.place(0).sendChanged("prompts")
		time.Sleep(2 * time.Second)
		wantHeard(t, e, "changed resources", "changed prompts")
		if c, _ := m.Catalog(t.Context()); c.Len(catalog.Templates) != 1 || c.Len(catalog.Resources) != 1 || c.Len(catalog.Prompts) != 1 {
			t.Error("lists are missing")
		}
		m.Leave()
		a.set(func() { a.lists["tools"] = nil })
		a.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		wantHeard(t, e)
	})
}

func TestWhoSeesOneServerHearsWhatItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "b": newFake(t)})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		client := legacy(`{}`)
		client.Only = "a"
		m := f.Join(client, e)
		defer m.Leave()
		wantTools(t, m, "a::x")
		for i := range 3 { // whether or not it is true
			a.place(0).sendChanged("tools")
			wantHeard(t, e, "changed tools")
			if i == 1 {
				a.set(func() { a.lists["tools"] = []string{"y"} })
			}
			time.Sleep(time.Second)
			wantHeard(t, e)
		}
		wantTools(t, m, "a::y")
		a.set(func() { a.lists["tools"] = []string{"z"} })
		restart(a)
		time.Sleep(time.Minute)
		wantHeard(t, e, "changed tools") // which the server did not announce
	})
}

func TestListsThatGoWrong(t *testing.T) {
	list := func(members string) func() []byte {
		return func() []byte { return []byte(`{"tools":[{"name":"n","inputSchema":{}}]` + members + `}`) }
	}
	for name, c := range map[string]struct {
		change func(s *fake)
		tools  int
		asks   int // maximum number of tools/list requests
	}{
		"a method that the server does not know is an empty list": {
			func(s *fake) { s.refuse["tools/list"] = wire.CodeMethodNotFound }, 0, 1,
		},
		"another error leaves the list that was known": {
			func(s *fake) { s.refuse["tools/list"] = wire.CodeInternal }, 1, 6,
		},
		"a result without the list leaves the one that was known": {
			func(s *fake) { s.answers["tools/list"] = func() []byte { return []byte(`{"tools":{}}`) } }, 1, 6,
		},
		"a cursor that comes again ends the list": {
			func(s *fake) { s.answers["tools/list"] = list(`,"nextCursor":"same"`) }, 1, 2,
		},
		"an empty cursor is one": {
			func(s *fake) { s.answers["tools/list"] = list(`,"nextCursor":""`) }, 1, 2,
		},
		"a list without end is cut off": {
			func(s *fake) {
				n := 0
				s.answers["tools/list"] = func() []byte {
					n++
					return fmt.Appendf(nil, `{"tools":[{"name":"n%d","inputSchema":{}}],"nextCursor":"%d"}`, n, n)
				}
			}, maxPages, maxPages,
		},
		"an item that cannot be used is left out": {
			func(s *fake) {
				s.answers["tools/list"] = func() []byte {
					return []byte(`{"tools":[{"name":"ok","inputSchema":{}},{"name":7},{"name":"no schema"},null]}`)
				}
			}, 1, 1,
		},
		"what is not declared is not asked for": {
			func(s *fake) { s.caps = `{}` }, 0, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFake(t, "first")
				f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
				stop := run(t, f)
				defer stop()
				m := f.Join(legacy(`{}`), nil)
				defer m.Leave()
				wantTools(t, m, "a::first")
				time.Sleep(time.Second)
				before := a.count("tools/list")
				a.set(func() { c.change(a) })
				if a.caps == `{}` {
					restart(a)
				} else {
					a.place(0).sendChanged("tools")
				}
				time.Sleep(20 * time.Second)
				all, _ := m.Catalog(t.Context())
				if n := all.Len(catalog.Tools); n != c.tools {
					t.Errorf("%d tools, want %d", n, c.tools)
				}
				if n := a.count("tools/list") - before; n > c.asks {
					t.Errorf("asked %d times, want at most %d", n, c.asks)
				}
				st := f.Status()[0]
				if wrong := len(st.Problems); strings.Contains(name, "cannot be used") != (wrong == 3) {
					t.Errorf("problems: %v", st.Problems)
				}
			})
		})
	}
}

// restart makes a server crash and come back. It takes about ten seconds.
func restart(s *fake) {
	s.set(func() { s.dead = true })
	time.Sleep(8 * time.Second)
	s.set(func() { s.dead = false })
}

func TestFailedListIsFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		a.refuse["tools/list"] = wire.CodeInternal
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		defer m.Leave()
		wantTools(t, m)
		a.set(func() { clear(a.refuse) })
		time.Sleep(10 * time.Second)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "a::x")
	})
}

func TestListsWhoseChangesNobodyTellsAreFetchedAgainWhenWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		a.caps = `{"tools":{}}`
		a.answers["tools/list"] = nil
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		defer m.Leave()
		wantTools(t, m, "a::x")
		time.Sleep(time.Hour)
		if n := a.count("tools/list"); n != 1 {
			t.Errorf("fetched %d times while nobody wanted it", n)
		}
		a.set(func() { a.lists["tools"] = []string{"z"} })
		wantTools(t, m, "a::x")
		time.Sleep(time.Second)
		wantHeard(t, e, "changed tools")
		wantTools(t, m, "a::z")
		wantTools(t, m, "a::z")
		if n := a.count("tools/list"); n != 2 {
			t.Errorf("fetched %d times, want 2", n)
		}
	})
}

func TestCatalogWaitsNoLongerThanItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		a.dead = true
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		m.Catalog(ctx)
		peers := m.Peers(ctx)
		_, err := m.Conn(ctx, "a")
		if took := time.Since(began); took != time.Second || !errors.Is(err, context.DeadlineExceeded) || peers[0].Peer != nil || peers[0].Err == nil {
			t.Errorf("took %s; Conn: %v; Peers: %+v", took, err, peers)
		}
	})
}

func TestHowLongListsMayBeKept(t *testing.T) {
	for name, c := range map[string]struct {
		eras   string
		client Client
		caps   string
		want   ListInfo
		later  ListInfo // half a minute later
	}{
		"of a modern server as it says": {
			"both", modernClient(`{}`), `{"tools":{"listChanged":true}}`, ListInfo{60000, "public"}, ListInfo{60000, "public"},
		},
		"what nobody tells to have changed grows old": {
			"both", modernClient(`{}`), `{"tools":{}}`, ListInfo{60000, "public"}, ListInfo{30000, "public"},
		},
		"of a legacy server not at all": {
			"legacy", modernClient(`{}`), `{"tools":{"listChanged":true}}`, ListInfo{0, "private"}, ListInfo{0, "private"},
		},
		"where there is nothing to keep, not at all": {
			"both", modernClient(`{}`), `{}`, ListInfo{0, "private"}, ListInfo{0, "private"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFake(t, "x")
				a.eras, a.caps = c.eras, c.caps
				f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a})
				stop := run(t, f)
				defer stop()
				m := f.Join(c.client, nil)
				defer m.Leave()
				placeOf(t, m, "a") // else the lists of the shared connection are used
				synctest.Wait()
				if _, got := m.Catalog(t.Context()); got != c.want {
					t.Errorf("info %+v, want %+v", got, c.want)
				}
				time.Sleep(30 * time.Second)
				if _, got := m.Catalog(t.Context()); got != c.later {
					t.Errorf("later: info %+v, want %+v", got, c.later)
				}
			})
		})
	}
}

func TestStatusCountsWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x", "y")
		a.lists["prompts"] = []string{"p"}
		f := poolOf(t, Options{
			Eager:   true,
			Servers: []upstream.Settings{{ID: "off", Builtin: "fake", Disabled: true}, {ID: "a", Builtin: "fake"}},
		}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		synctest.Wait()
		all := f.Status()
		if len(all) != 2 || all[0].ID != "off" || all[0].State != upstream.Disabled || all[1].State != upstream.Ready ||
			all[1].Tools != 2 || all[1].Prompts != 1 || all[1].Resources != 0 || all[1].Connections != 1 {
			t.Errorf("Status() = %+v", all)
		}
		if !slices.Equal(f.IDs(), []string{"a"}) || hasShared(f, "off") || hasShared(f, "nobody") || !hasShared(f, "a") {
			t.Errorf("IDs() = %q", f.IDs())
		}
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		if _, err := m.Conn(t.Context(), "off"); err == nil {
			t.Error("a disabled server has a connection")
		}
	})
}

func hasShared(f *Pool, id string) bool {
	up, release := f.Shared(id)
	release()
	return up != nil
}
