package limit_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// leaseOver is longer than the life of a lease.
const leaseOver = 16 * time.Second

func slots(n, queue int) limit.Settings {
	return limit.Settings{Name: "slots", By: []string{"tenant"}, Concurrent: n, Queue: queue, QueueWait: time.Minute, Shared: true}
}

// take takes a slot that must be free.
func take(t *testing.T, l *limit.Limits, c limit.Call) limit.Grant {
	t.Helper()
	g, refusal := l.Take(t.Context(), c)
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	return g
}

// All replicas together never exceed the limit of concurrent calls, and every queued call gets its
// turn.
func TestReplicasShareSlots(t *testing.T) {
	server := redistest.Start(t)
	var now, most, done atomic.Int32
	var all sync.WaitGroup
	for range 3 {
		l := replica(t, server, slots(2, 100))
		for range 10 {
			all.Go(func() {
				g, refusal := l.Take(t.Context(), call("a", "x", "s", "t"))
				if refusal != nil {
					t.Errorf("refused: %+v", refusal)
					return
				}
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					continue
				}
				time.Sleep(time.Millisecond)
				now.Add(-1)
				done.Add(1)
				g.Release()
			})
		}
	}
	if all.Wait(); most.Load() > 2 || done.Load() != 30 {
		t.Errorf("%d of 30 calls, %d at a time, want all, two at a time", done.Load(), most.Load())
	}
}

// A finished call releases its slot for calls at any replica. Buckets are independent, and a full
// queue refuses.
func TestASharedSlotIsGivenBack(t *testing.T) {
	server := redistest.Start(t)
	a, b := replica(t, server, slots(1, 0)), replica(t, server, slots(1, 0))
	c := call("a", "x", "s", "t")
	for range 50 {
		take(t, a, c).Release()
		take(t, b, c).Release()
	}
	held := take(t, a, c)
	if _, refusal := b.Take(t.Context(), c); refusal == nil || refusal.Limit != "slots" || refusal.Reason != limit.ReasonConcurrency || refusal.RetryAfter <= 0 {
		t.Errorf("a second call at a time: %+v", refusal)
	}
	take(t, b, call("other", "x", "s", "t")).Release()
	if u := a.Usage(); len(u) != 1 || u[0].InFlight != 1 {
		t.Errorf("usage = %+v", u)
	}
	held.Release()
	take(t, b, c).Release()
	if u := a.Usage(); len(u) != 0 {
		t.Errorf("usage afterwards = %+v", u)
	}
}

// A running call keeps its slot, even if the engine lost it. A finished call does not take it
// again.
func TestASharedSlotIsRenewed(t *testing.T) {
	server := redistest.Start(t)
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	holder, other := limit.NewRedis(db), limit.NewRedis(db)
	defer holder.Close()
	defer other.Close()
	enter := func(r *limit.Redis) func(context.Context) {
		t.Helper()
		leave, err := r.Enter(t.Context(), "b", 1)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	leave := enter(holder)
	for range 3 {
		server.Advance(leaseOver * 2 / 3)
		if err := holder.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if enter(other) != nil {
			t.Fatal("a slot that is held was given away")
		}
	}
	if err := db.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if enter(other) != nil {
		t.Error("an engine that was emptied gives away a slot that is held")
	}
	leave(t.Context())
	if err := holder.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if enter(other) == nil {
		t.Error("what was given back is held")
	}
}

// A call whose client is gone releases its slot, in the context values of that call.
func TestASlotIsGivenBackUnderItsCallsValues(t *testing.T) {
	type name struct{}
	store := &slotStore{}
	l, err := limit.New(limit.Options{Settings: []limit.Settings{slots(1, 0)}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	ctx, gone := context.WithCancel(context.WithValue(t.Context(), name{}, "the call's"))
	g, refusal := l.Take(ctx, call("a", "x", "s", "t"))
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	gone()
	g.Release()
	if len(store.left) != 1 {
		t.Fatalf("given back %d times, want once", len(store.left))
	}
	left := store.left[0]
	if _, bounded := left.Deadline(); store.errs[0] != nil || !bounded || left.Value(name{}) != "the call's" {
		t.Errorf("given back under a context with %v, bounded %v, value %v", store.errs[0], bounded, left.Value(name{}))
	}
}

// slotStore is a store with room that records the contexts of releases.
type slotStore struct {
	limit.Store

	left []context.Context
	errs []error // the error of each context at that time
}

func (s *slotStore) Enter(context.Context, string, int) (func(context.Context), error) {
	return func(ctx context.Context) {
		s.left = append(s.left, ctx)
		s.errs = append(s.errs, ctx.Err())
	}, nil
}

// While the store is unreachable, a replica has its part of the slots, or none.
func TestSharedSlotsWithoutTheStore(t *testing.T) {
	server := redistest.Start(t)
	part, none := slots(4, 0), slots(4, 0)
	part.WithoutStore = 0.5
	open, db := replicaOn(t, server, part)
	closed := replica(t, server, none)
	c := call("a", "x", "s", "t")
	before := take(t, open, c)
	server.Kill()
	second := take(t, open, c)
	if _, refusal := open.Take(t.Context(), c); refusal == nil {
		t.Error("a third call at a time, where half of four are this replica's")
	}
	if _, refusal := closed.Take(t.Context(), c); refusal == nil || refusal.Reason != limit.ReasonConcurrency {
		t.Errorf("closed: %+v", refusal)
	}
	before.Release()
	second.Release()
	server.Run()
	server.Await(db)
	var held []limit.Grant
	for range 4 {
		held = append(held, take(t, open, c))
	}
	for _, g := range held {
		g.Release()
	}
}

const holdsOn = "SECATEUR_TEST_HOLDS_A_SLOT"

// TestMain turns this program into a replica that holds a slot until it is killed, if the
// environment says so.
func TestMain(m *testing.M) {
	url := os.Getenv(holdsOn)
	if url == "" {
		os.Exit(m.Run())
	}
	db, err := redisdb.Open(context.Background(), redisdb.Options{URL: url})
	if err != nil {
		panic(err)
	}
	leave, err := limit.NewRedis(db).Enter(context.Background(), "b", 1)
	fmt.Println(leave != nil, err)
	select {}
}

// The slots of a replica killed with -9 become free when its leases expire, and not before.
func TestAKilledReplicaHoldsNothing(t *testing.T) {
	server := redistest.Start(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	holder := exec.CommandContext(t.Context(), self)
	holder.Env = append(os.Environ(), holdsOn+"="+server.URL)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = holder.Process.Kill()
	_ = holder.Wait()
	if err != nil || line != "true <nil>\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	next := limit.NewRedis(db)
	defer next.Close()
	leave, err := next.Enter(t.Context(), "b", 1)
	if err != nil || leave != nil && time.Since(began) < leaseOver/2 {
		t.Fatalf("at once: %v, %v, want it still held", leave != nil, err)
	}
	server.Advance(leaseOver)
	if leave, err := next.Enter(t.Context(), "b", 1); err != nil || leave == nil {
		t.Errorf("afterwards: %v, %v, want it free", leave != nil, err)
	}
}
