package limit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/limit"
)

func limits(tb testing.TB, settings ...limit.Settings) *limit.Limits {
	tb.Helper()
	for i, s := range settings {
		if err := s.Validate(); err != nil {
			tb.Fatalf("limit %d: %v", i, err)
		}
	}
	l, err := limit.New(limit.Options{Settings: settings})
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func rate(tb testing.TB, text string) (r limit.Rate) {
	tb.Helper()
	if err := r.UnmarshalText([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	return r
}

func call(tenant, subject, server, tool string) limit.Call {
	return limit.Call{
		Principal: &access.Principal{Issuer: "token", Subject: subject, Tenant: tenant},
		Target:    access.Target{Door: access.DoorMCP, Server: server, Kind: access.KindTool, Name: tool},
	}
}

// allowed counts how many of n calls are allowed now.
func allowed(t *testing.T, l *limit.Limits, n int, c limit.Call) (count int, last *limit.Refusal) {
	t.Helper()
	for range n {
		g, refusal := l.Take(t.Context(), c)
		if refusal == nil {
			count++
			g.Release()
		} else {
			last = refusal
		}
	}
	return count, last
}

func TestBurstThenSustainedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{Name: "search", By: []string{"tenant", "tool"}, Rate: rate(t, "60/m"), Burst: 10})
		a := call("a", "x", "s", "search")
		n, refusal := allowed(t, l, 20, a)
		if n != 10 || refusal.Limit != "search" || refusal.Reason != limit.ReasonRate || refusal.RetryAfter != time.Second {
			t.Fatalf("%d at once, then %+v; want 10, then a second", n, refusal)
		}
		if refusal.State != (limit.State{Limit: 10, Remaining: 0, Reset: 10 * time.Second}) {
			t.Errorf("state %+v", refusal.State)
		}
		for name, other := range map[string]limit.Call{"another tenant": call("b", "x", "s", "search"), "another tool": call("a", "x", "s", "find"), "the tool of another server": call("a", "x", "z", "search")} {
			if n, _ := allowed(t, l, 1, other); n != 1 {
				t.Errorf("%s has no bucket of its own", name)
			}
		}
		if n, _ := allowed(t, l, 1, call("a", "y", "s", "search")); n != 0 {
			t.Error("another subject of the tenant has a bucket of its own")
		}
		time.Sleep(3 * time.Second)
		if n, _ := allowed(t, l, 20, a); n != 3 {
			t.Errorf("after three seconds %d, want 3", n)
		}
		time.Sleep(time.Hour)
		if n, _ := allowed(t, l, 20, a); n != 10 {
			t.Errorf("after an hour %d, want 10", n)
		}
	})
}

func TestEveryLimitCountsOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t,
			limit.Settings{Name: "wide", Rate: rate(t, "100/h")},
			limit.Settings{Name: "narrow", Rate: rate(t, "2/h"), Tool: access.Globs{"write_*"}})
		if n, refusal := allowed(t, l, 10, call("a", "x", "s", "write_file")); n != 2 || refusal.Limit != "narrow" {
			t.Fatalf("%d writes, refused by %+v", n, refusal)
		}
		g, refusal := l.Take(t.Context(), call("a", "x", "s", "read"))
		if refusal != nil || g.State.Limit != 100 || g.State.Remaining != 97 {
			t.Errorf("a read after two writes and eight refusals: %+v, %+v, want 97 of 100 left", g.State, refusal)
		}
	})
}

func TestShorthand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := limit.New(limit.Options{PerMinute: 3})
		if err != nil {
			t.Fatal(err)
		}
		if n, refusal := allowed(t, l, 5, call("a", "x", "s", "t")); n != 3 || refusal.Limit != "rate_limit_per_minute" {
			t.Errorf("%d, %+v", n, refusal)
		}
		if n, _ := allowed(t, l, 5, call("a", "y", "s", "t")); n != 3 {
			t.Errorf("another principal: %d", n)
		}
	})
}

func TestConcurrentCallsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{Name: "slow", Concurrent: 2, Queue: 2, QueueWait: 10 * time.Second})
		c := call("a", "x", "s", "t")
		first, _ := l.Take(t.Context(), c)
		second, _ := l.Take(t.Context(), c)
		var mu sync.Mutex
		var order []string
		var group sync.WaitGroup
		wait := func(ctx context.Context, name string) {
			group.Go(func() {
				g, refusal := l.Take(ctx, c)
				mu.Lock()
				defer mu.Unlock()
				if refusal != nil {
					order = append(order, name+" refused "+string(refusal.Reason))
					return
				}
				order = append(order, name)
				g.Release()
			})
			synctest.Wait()
		}
		wait(t.Context(), "third")
		gone, leave := context.WithCancel(t.Context())
		wait(gone, "fourth")
		wait(t.Context(), "fifth") // no room
		leave()
		synctest.Wait()
		first.Release()
		synctest.Wait()
		second.Release()
		group.Wait()
		if got := strings.Join(order, ", "); got != "fifth refused concurrency, fourth refused concurrency, third" {
			t.Errorf("order: %s", got)
		}
		if n, _ := allowed(t, l, 1, c); n != 1 || len(l.Usage()) != 0 {
			t.Errorf("after all left: %d allowed, in use %+v", n, l.Usage())
		}
	})
}

func TestWaitingEndsAfterQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{Concurrent: 1, Queue: 1, QueueWait: 5 * time.Second})
		c := call("a", "x", "s", "t")
		held, _ := l.Take(t.Context(), c)
		began := time.Now()
		if _, refusal := l.Take(t.Context(), c); refusal == nil || time.Since(began) != 5*time.Second {
			t.Errorf("%+v after %v, want a refusal after 5 s", refusal, time.Since(began))
		}
		held.Release()
		if _, refusal := l.Take(t.Context(), c); refusal != nil {
			t.Errorf("after the release: %+v", refusal)
		}
	})
}

func TestDayBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{Name: "budget", By: []string{"tenant"}, TokensPerDay: 1000, USDPerDay: 0.5})
		c := limit.Call{
			Principal: &access.Principal{Tenant: "a"},
			Target:    access.Target{Door: access.DoorChat, Kind: access.KindModel, Name: "m", Also: "kimi/m"},
		}
		l.Spend(c, 999, 0.1)
		if n, _ := allowed(t, l, 1, c); n != 1 {
			t.Fatal("refused below the budget")
		}
		l.Spend(c, 1, 0)
		n, refusal := allowed(t, l, 1, c)
		if n != 0 || refusal.Reason != limit.ReasonBudget || refusal.RetryAfter != 24*time.Hour {
			// synctest's clock starts at midnight UTC
			t.Fatalf("at the budget: %d, %+v", n, refusal)
		}
		other := c
		other.Principal = &access.Principal{Tenant: "b"}
		if n, _ := allowed(t, l, 1, other); n != 1 {
			t.Error("another tenant pays for it")
		}
		l.Spend(other, 0, 0.5)
		if n, _ := allowed(t, l, 1, other); n != 0 {
			t.Error("dollars are not counted")
		}
		time.Sleep(24 * time.Hour)
		if n, _ := allowed(t, l, 1, c); n != 1 {
			t.Error("the next day is refused")
		}
	})
}

func TestBucketsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{By: []string{"tool"}, Rate: rate(t, "1/m")})
		for i := range 5_625 { // a caller's share: three quarters of its tenant's
			if n, _ := allowed(t, l, 1, call("a", "x", "s", fmt.Sprint(i))); n != 1 {
				t.Fatalf("call %d finds no bucket of its own", i)
			}
		}
		one, _ := allowed(t, l, 1, call("a", "x", "s", "new"))
		two, _ := allowed(t, l, 1, call("a", "x", "s", "newer"))
		if one != 1 || two != 0 {
			t.Errorf("beyond the bound: %d, %d; want one bucket for all", one, two)
		}
		time.Sleep(2 * time.Minute)
		for _, tool := range []string{"c", "d"} {
			if n, _ := allowed(t, l, 1, call("a", "x", "s", tool)); n != 1 {
				t.Error("idle buckets are not forgotten")
			}
		}
	})
}

// Invented tool names use up the share of the caller that sends them.
func TestOneCallerDoesNotUseUpTheBucketsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{By: []string{"tool"}, Rate: rate(t, "1/m")})
		for i := range 10_200 {
			allowed(t, l, 1, call("a", "x", "s", fmt.Sprint(i)))
		}
		for _, c := range []limit.Call{call("a", "y", "s", "read"), call("b", "x", "s", "write"), call("default", "z", "s", "list")} {
			if n, no := allowed(t, l, 1, c); n != 1 {
				t.Errorf("%s of %s: %+v, want a bucket of its own", c.Target, c.Principal.Key(), no)
			}
		}
	})
}

func TestToolsThatAreNotListedShareABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limits(t, limit.Settings{By: []string{"server", "tool"}, Rate: rate(t, "1/m")})
		for i, want := range []int{1, 0, 0} {
			c := call("a", "x", "s", fmt.Sprint("made up ", i))
			c.Unlisted = true
			if n, _ := allowed(t, l, 1, c); n != want {
				t.Errorf("made-up name %d: %d calls, want %d", i, n, want)
			}
		}
		if n, _ := allowed(t, l, 1, call("a", "x", "s", "listed")); n != 1 {
			t.Error("a tool that is listed pays for those that are not")
		}
	})
}

func TestSettingsValidate(t *testing.T) {
	for _, c := range []struct {
		rule string
		in   limit.Settings
		want string
	}{
		{"nothing limited", limit.Settings{}, "limits nothing"},
		{"a word that is none", limit.Settings{Concurrent: 1, By: []string{"user"}}, `by[0]: "user" is none of`},
		{"burst alone", limit.Settings{Concurrent: 1, Burst: 2}, "burst: belongs to rate"},
		{"queue alone", limit.Settings{Rate: rate(t, "1/s"), Queue: 2}, "queue: belongs to concurrent"},
		{"negative", limit.Settings{Concurrent: -1}, "concurrent: -1 is negative"},
		{"another door", limit.Settings{Concurrent: 1, Door: access.Globs{"front"}}, `door: "front" is none of`},
	} {
		if err := c.in.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Validate = %v, want %q", c.rule, err, c.want)
		}
	}
	for _, bad := range []string{"", "60", "0/m", "-1/m", "60/w", "x/m", "1.5/s"} {
		if err := new(limit.Rate).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("rate %q is accepted", bad)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	settings := make([]limit.Settings, 100)
	for i := range settings {
		settings[i] = limit.Settings{Tool: access.Globs{fmt.Sprintf("tool_%d", i)}, By: []string{"principal"}, Rate: limit.Rate{Number: 1_000_000, Per: time.Second}}
	}
	settings[99].Tool = nil
	l := limits(b, settings...)
	calls := make([]limit.Call, 10_000)
	for i := range calls {
		calls[i] = call("a", fmt.Sprintf("agent-%d", i), "s", "read")
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		g, refusal := l.Take(b.Context(), calls[i%len(calls)])
		if refusal != nil {
			b.Fatal(refusal)
		}
		g.Release()
		i++
	}
}
