package pool

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/routing"
)

// Server messages outside any call, for three members: one has set a log level, one has not, and
// one has never used the server.
func TestRoutesOutsideOfCalls(t *testing.T) {
	const message = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`
	for _, c := range []struct {
		rule, sent string
		to         routing.Decision
		heard      string // receiving members
	}{
		{"messages without a row", message, routing.Decision{}, "leveled quiet"},
		{"messages of a cause that there is not", message, routing.Decision{To: routing.Cause}, ""},
		{"messages to those who asked", message, routing.Decision{To: routing.Asked}, "leveled"},
		{"messages to all", message, routing.Decision{To: routing.All}, "idle leveled quiet"},
		{"messages to principals", message, routing.Decision{To: routing.Principals, Principals: access.Globs{"i*"}}, "idle"},
		{"messages to nobody", message, routing.Decision{To: routing.Drop}, ""},
		{"news without a row", updated, routing.Decision{}, "quiet"},
		{"news to those who asked", updated, routing.Decision{To: routing.Asked}, "quiet"},
		{"news to all", updated, routing.Decision{To: routing.All}, "idle leveled quiet"},
		{"news to nobody", updated, routing.Decision{To: routing.Drop}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, members := routed(t, c.to)
				f.place(0).send(c.sent)
				synctest.Wait()
				var heard []string
				for name, e := range members {
					if len(e.all()) > 0 {
						heard = append(heard, name)
					}
				}
				slices.Sort(heard)
				if got := strings.Join(heard, " "); got != c.heard {
					t.Errorf("heard by %q, want %q", got, c.heard)
				}
			})
		})
	}
}

// routed returns a server behind a pool with one route and three members.
func routed(t *testing.T, d routing.Decision) (*fake, map[string]*ears) {
	t.Helper()
	a := newFake(t, "x")
	a.lists["resources"] = []string{"file:///a"}
	opt := Options{Eager: true, FirstListWait: time.Second}
	if d.To != routing.Default {
		opt.Routes.Routes = []routing.Route{{To: d.To, Principals: d.Principals}}
	}
	f := poolOf(t, opt, map[string]*fake{"a": a})
	run(t, f)
	all := map[string]*ears{}
	for _, name := range []string{"idle", "leveled", "quiet"} {
		all[name] = &ears{}
		client := legacy(`{"sampling":{}}`)
		if name == "idle" {
			client = legacy(`{}`)
		}
		client.Subject = func() string { return name }
		m := f.Join(client, all[name])
		t.Cleanup(m.Leave)
		switch name {
		case "leveled":
			if err := m.SetLevel(t.Context(), "debug"); err != nil {
				t.Fatal(err)
			}
		case "quiet":
			if err := m.Subscribe(t.Context(), "a", "file:///a"); err != nil {
				t.Fatal(err)
			}
		}
	}
	synctest.Wait()
	for _, e := range all {
		e.all()
	}
	return a, all
}

// A request goes to the first member that can answer.
func TestRoutesOfRequests(t *testing.T) {
	for _, c := range []struct {
		rule  string
		to    routing.Decision
		heard string // answering member; "": refused
	}{
		{"of several without a row nobody can tell who is meant", routing.Decision{}, ""},
		{"those who use the server, in the order in which they came", routing.Decision{To: routing.Asked}, "leveled"},
		{"who cannot answer is passed over", routing.Decision{To: routing.All}, "leveled"},
		{"a principal", routing.Decision{To: routing.Principals, Principals: access.Globs{"quiet"}}, "quiet"},
		{"a principal who cannot answer", routing.Decision{To: routing.Principals, Principals: access.Globs{"idle"}}, ""},
		{"nobody", routing.Decision{To: routing.Drop}, ""},
		{"a cause that there is not", routing.Decision{To: routing.Cause}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, members := routed(t, c.to)
				answer := string(f.place(0).sendIn(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`))
				if refused := strings.Contains(answer, "-32601"); refused != (c.heard == "") {
					t.Errorf("the server got %s", answer)
				}
				for name, e := range members {
					if asked := len(e.all()) > 0; asked != (name == c.heard) {
						t.Errorf("%s was asked: %t", name, asked)
					}
				}
			})
		})
	}
}

// If a route drops a server's list changes, members are not notified, but the new list is used.
func TestRouteThatDropsChangesOfLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFake(t, "x"), newFake(t, "y")
		f := poolOf(t, Options{Eager: true, FirstListWait: time.Second, Routes: routing.Settings{Routes: []routing.Route{
			{Server: access.Globs{"a"}, Method: access.Globs{"notifications/tools/list_changed"}, To: routing.Drop},
		}}}, map[string]*fake{"a": a, "b": b})
		run(t, f)
		e := &ears{}
		m := f.Join(legacy(`{}`), e)
		wantTools(t, m, "a::x", "b::y")
		time.Sleep(time.Second)
		e.all()
		a.set(func() { a.lists["tools"] = []string{"x", "more"} })
		a.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		wantHeard(t, e)
		wantTools(t, m, "a::x", "a::more", "b::y")
		b.set(func() { b.lists["tools"] = []string{"z"} })
		b.place(0).sendChanged("tools")
		time.Sleep(time.Second)
		wantHeard(t, e, "changed tools")
	})
}
