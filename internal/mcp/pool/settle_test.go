package pool

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/wire"
)

// seen records the lists that a pool reports to the tool pinning.
func seen(opt Options) (Options, func() string) {
	last := make(chan string, 1000)
	newest := ""
	opt.Listed = func(_ string, l catalog.List, tools [][]byte) {
		if l != catalog.Tools {
			return
		}
		all := ""
		for _, tool := range tools {
			all += string(tool)
		}
		last <- all
	}
	return opt, func() string {
		for {
			select {
			case newest = <-last:
			default:
				return newest
			}
		}
	}
}

const (
	oldTools = `{"tools":[{"name":"x","description":"old","inputSchema":{}}]}`
	newTools = `{"tools":[{"name":"x","description":"new","inputSchema":{}}]}`
	newTool  = `{"name":"x","description":"new","inputSchema":{}}`
)

// says makes a server list these tools from now on, slowly.
func (s *fake) says(tools string) {
	s.set(func() {
		s.answers["tools/list"] = func() []byte {
			time.Sleep(3 * time.Second)
			return []byte(tools)
		}
	})
}

// If a server announces new tools or restarts, Settle returns only after they are stored, however
// soon it is called.
func TestSettledMeansThatTheNewestListIsTakenIn(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, f *Pool, a *fake){
		"it says so":       func(_ *testing.T, _ *Pool, a *fake) { a.place(0).sendChanged("tools") },
		"it says so twice": func(_ *testing.T, _ *Pool, a *fake) { a.place(0).sendChanged("tools"); a.place(0).sendChanged("tools") },
		"it says so while it is read": func(_ *testing.T, _ *Pool, a *fake) {
			a.place(0).sendChanged("tools")
			time.Sleep(time.Second)
			a.place(0).sendChanged("tools")
		},
		"it is there anew": func(t *testing.T, f *Pool, _ *fake) {
			t.Helper()
			if err := f.Restart(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFake(t)
				a.says(oldTools)
				opt, taken := seen(Options{Eager: true, FirstListWait: 10 * time.Second})
				f := poolOf(t, opt, map[string]*fake{"a": a})
				stop := run(t, f)
				defer stop()
				m := f.Join(legacy(`{}`), nil)
				defer m.Leave()
				settle := map[string]func() error{
					"a member's connection": func() error { return m.Settle(t.Context(), "a", catalog.Tools) },
					"the one for all":       func() error { return f.Settle(t.Context(), "a", catalog.Tools) },
				}
				for who, settle := range settle {
					a.says(oldTools)
					a.place(0).sendChanged("tools")
					if err := settle(); err != nil || taken() == newTool {
						t.Fatalf("%s, before: %v", who, err)
					}
					began := time.Now()
					if err := settle(); err != nil || time.Since(began) > 0 {
						t.Errorf("%s: with nothing new it took %s: %v", who, time.Since(began), err)
					}
					a.says(newTools)
					change(t, f, a)
					if err := settle(); err != nil {
						t.Errorf("%s: %v", who, err)
					}
					if got := taken(); got != newTool {
						t.Errorf("%s: settled with %s", who, got)
					}
				}
			})
		})
	}
}

// The first call of a connection waits for its list too, because a pin may be older than the
// program.
func TestSettlesWithTheFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t)
		a.says(newTools)
		opt, taken := seen(Options{})
		f := poolOf(t, opt, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		if err := m.Settle(t.Context(), "a", catalog.Tools); err != nil || taken() != newTool {
			t.Errorf("Settle: %v", err)
		}
	})
}

// A server that does not announce changes is asked again when its list has expired.
func TestSettlesWhatNobodyAnnounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t)
		a.caps = `{"tools":{}}`
		a.says(oldTools)
		opt, taken := seen(Options{Eager: true})
		f := poolOf(t, opt, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		if err := f.Settle(t.Context(), "a", catalog.Tools); err != nil {
			t.Fatal(err)
		}
		a.says(newTools)
		time.Sleep(refreshAfter - 5*time.Second)
		began := time.Now()
		if err := f.Settle(t.Context(), "a", catalog.Tools); err != nil || time.Since(began) > 0 {
			t.Errorf("with a list that is good: %v after %s", err, time.Since(began))
		}
		time.Sleep(10 * time.Second)
		if err := f.Settle(t.Context(), "a", catalog.Tools); err != nil || taken() != newTool {
			t.Errorf("with a list that is old: %v", err)
		}
	})
}

// Settle does not wait forever for a server that withholds its list. Its tools count as not listed.
func TestSettlingEnds(t *testing.T) {
	for name, c := range map[string]struct {
		list   func(a *fake)
		within time.Duration
		want   error
	}{
		"it does not answer": {func(a *fake) {
			a.answers["tools/list"] = func() []byte { time.Sleep(20 * time.Second); return []byte(newTools) }
		}, settleWait, ErrUnlisted},
		"it refuses": {func(a *fake) { a.refuse["tools/list"] = wire.CodeInternal }, 0, ErrUnlisted},
		"its tools are others all the time": {func(a *fake) {
			a.answers["tools/list"] = func() []byte {
				time.Sleep(time.Second)
				a.place(0).sendChanged("tools")
				return []byte(newTools)
			}
		}, settleWait, ErrUnlisted},
		"it has no lists": {func(a *fake) { a.refuse["tools/list"] = wire.CodeMethodNotFound }, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFake(t, "x")
				f := poolOf(t, Options{Eager: true}, map[string]*fake{"a": a})
				stop := run(t, f)
				defer stop()
				if err := f.Settle(t.Context(), "a", catalog.Tools); err != nil {
					t.Fatal(err)
				}
				a.set(func() { c.list(a) })
				a.place(0).sendChanged("tools")
				began := time.Now()
				if err := f.Settle(t.Context(), "a", catalog.Tools); !errors.Is(err, c.want) || time.Since(began) > c.within {
					t.Errorf("Settle: %v after %s", err, time.Since(began))
				}
			})
		})
	}
}

// Settle does not wait for a server that is down or has no such list: the call reports it.
func TestNothingToSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bare, dead := newFake(t), newFake(t)
		bare.caps = `{"prompts":{}}`
		dead.refuse["initialize"] = wire.CodeInternal
		f := poolOf(t, Options{Eager: true}, map[string]*fake{"bare": bare, "dead": dead})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		for _, id := range []string{"bare", "dead", "none"} {
			if err := errors.Join(f.Settle(t.Context(), id, catalog.Tools), m.Settle(t.Context(), id, catalog.Tools)); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if n := bare.count("tools/list"); n > 0 {
			t.Errorf("a server without tools was asked for them %d times", n)
		}
	})
}

// If a tool is not in the known list, the list is fetched once more. If the server is down, the
// call reports it.
func TestListsReadsTheListAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, dead := newFake(t), newFake(t)
		dead.refuse["initialize"] = wire.CodeInternal
		a.says(`{"tools":[{"name":"y","inputSchema":{}}]}`)
		f := poolOf(t, Options{Eager: true, FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "dead": dead})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), nil)
		defer m.Leave()
		if !f.Lists(t.Context(), "a", catalog.Tools, "y") || f.Lists(t.Context(), "a", catalog.Tools, "x") || f.Lists(t.Context(), "a", catalog.Prompts, "y") {
			t.Error("it lists the tool y and nothing else")
		}
		a.says(newTools)
		if !f.Lists(t.Context(), "a", catalog.Tools, "x") || !m.Lists(t.Context(), "a", catalog.Tools, "x") || m.Lists(t.Context(), "a", catalog.Tools, "y") {
			t.Error("it lists the tool x now")
		}
		if !f.Lists(t.Context(), "dead", catalog.Tools, "x") || !f.Lists(t.Context(), "none", catalog.Tools, "x") {
			t.Error("a server that is not there is for the call to say")
		}
	})
}
