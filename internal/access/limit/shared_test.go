package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// replica returns limits that count in an engine.
func replica(t *testing.T, server *redistest.Server, settings ...limit.Settings) *limit.Limits {
	t.Helper()
	l, _ := replicaOn(t, server, settings...)
	return l
}

func replicaOn(t *testing.T, server *redistest.Server, settings ...limit.Settings) (*limit.Limits, *redisdb.DB) {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := limit.NewRedis(db)
	t.Cleanup(func() { _ = store.Close() })
	l, err := limit.New(limit.Options{Settings: settings, Store: store, StoreWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return l, db
}

// Three replicas together allow as much as one. The rate is too slow to refill during the test.
func TestReplicasShareARate(t *testing.T) {
	server := redistest.Start(t)
	shared := limit.Settings{Name: "search", By: []string{"tenant"}, Rate: rate(t, "20/d"), Shared: true}
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 3 {
		l := replica(t, server, shared)
		all.Go(func() {
			n, refusal := allowed(t, l, 21, call("a", "x", "s", "search"))
			passed.Add(int32(n))
			if refusal == nil || refusal.Limit != "search" || refusal.Reason != limit.ReasonRate || refusal.RetryAfter < time.Hour || refusal.State.Limit != 20 {
				t.Errorf("refusal %+v", refusal)
			}
		})
	}
	if all.Wait(); passed.Load() != 20 {
		t.Errorf("three replicas let %d calls through, want 20", passed.Load())
	}
	if n, _ := allowed(t, replica(t, server, shared), 5, call("b", "x", "s", "search")); n != 5 {
		t.Errorf("another tenant has %d of 5", n)
	}
}

// A call that another limit refuses is not counted.
func TestASharedRateIsGivenBack(t *testing.T) {
	server := redistest.Start(t)
	l := replica(t, server,
		limit.Settings{Name: "shared", Rate: rate(t, "10/d"), Shared: true},
		limit.Settings{Name: "narrow", By: []string{"tool"}, Rate: rate(t, "1/d"), Shared: true})
	if n, refusal := allowed(t, l, 9, call("a", "x", "s", "one")); n != 1 || refusal.Limit != "narrow" {
		t.Fatalf("%d, then %+v", n, refusal)
	}
	for i := range 9 {
		if n, refusal := allowed(t, l, 1, call("a", "x", "s", string(rune('a'+i)))); n != 1 {
			t.Fatalf("call %d of the other tools: %+v", i, refusal)
		}
	}
	if _, refusal := allowed(t, l, 1, call("a", "x", "s", "z")); refusal == nil || refusal.Limit != "shared" {
		t.Errorf("the eleventh: %+v, want it refused by the shared one", refusal)
	}
}

func TestReplicasShareADaysSum(t *testing.T) {
	server := redistest.Start(t)
	shared := limit.Settings{Name: "money", By: []string{"tenant"}, USDPerDay: 1, Shared: true}
	a, b := replica(t, server, shared), replica(t, server, shared)
	c := call("a", "x", "", "")
	for _, l := range []*limit.Limits{a, b} {
		if n, refusal := allowed(t, l, 1, c); n != 1 {
			t.Fatalf("before the sum is reached: %+v", refusal)
		}
		if err := l.Spend(c, 1000, 0.5); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []*limit.Limits{a, b} {
		if _, refusal := allowed(t, l, 1, c); refusal == nil || refusal.Reason != limit.ReasonBudget || refusal.RetryAfter > 24*time.Hour {
			t.Errorf("with a dollar spent by two replicas: %+v", refusal)
		}
	}
}

func TestWithoutTheStoreAPartOfTheRateHoldsOrNothing(t *testing.T) {
	server := redistest.Start(t)
	open := replica(t, server, limit.Settings{Name: "part", Rate: rate(t, "20/d"), Shared: true, WithoutStore: 0.25})
	closed, db := replicaOn(t, server, limit.Settings{Name: "closed", Rate: rate(t, "20/d"), Shared: true})
	server.Kill()
	c := call("a", "x", "s", "t")
	if n, refusal := allowed(t, open, 8, c); n != 5 || refusal.Limit != "part" {
		t.Errorf("a quarter of twenty is %d, then %+v", n, refusal)
	}
	if n, refusal := allowed(t, closed, 2, c); n != 0 || refusal.Limit != "closed" || refusal.RetryAfter <= 0 {
		t.Errorf("closed lets %d through: %+v", n, refusal)
	}
	server.Run()
	server.Await(db)
	if n, refusal := allowed(t, closed, 1, c); n != 1 {
		t.Errorf("with the store back: %+v", refusal)
	}
}
