//go:build unix

package limit_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// A slot granted too late, or released without a response, becomes free soon after the engine
// answers again. It does not wait for its lease to expire.
func TestASlotNobodyHoldsIsGivenBack(t *testing.T) {
	server := redistest.Start(t)
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, other := limit.NewRedis(db), limit.NewRedis(db)
	defer r.Close()
	defer other.Close()
	enter := func() func(context.Context) {
		t.Helper()
		leave, err := other.Enter(t.Context(), "b", 1)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	enter()(t.Context()) // loads the script
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	server.Signal(syscall.SIGSTOP)
	leave, err := r.Enter(late, "b", 1)
	server.Signal(syscall.SIGCONT)
	if err == nil {
		t.Fatalf("an engine that stands answers: %v", leave != nil)
	}
	server.Await(db)
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if leave = enter(); leave == nil {
		t.Fatal("a slot is held by a call that never had it")
	}
	leave(late) // late has expired, so the engine is not asked
	if err := other.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if enter() == nil {
		t.Error("a slot that could not be given back at once is held")
	}
}
