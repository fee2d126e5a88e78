package history_test

import (
	"testing"

	"secateur/internal/store/history"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// replica opens the history of one replica.
func replica(t *testing.T, url, dir string) (*history.History, *redisdb.DB) {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h, err := history.Open(history.Options{Dir: dir, Redis: db})
	if err != nil {
		t.Fatal(err)
	}
	return h, db
}

func share(t *testing.T, all ...*history.History) {
	t.Helper()
	for _, h := range all {
		if err := h.Share(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func wantTokens(t *testing.T, rule string, h *history.History, want int64, incomplete bool) {
	t.Helper()
	if got, err := h.Query(history.Query{By: history.ByServer}); err != nil || got.CutTokens != want || got.Incomplete != incomplete {
		t.Errorf("%s: %d tokens, incomplete %v, %v; want %d, %v", rule, got.CutTokens, got.Incomplete, err, want, incomplete)
	}
}

// Each replica shows the counts of all, each once: with and without files, shared repeatedly, after
// restarts, while the engine is unreachable, and after it came back empty.
func TestReplicasAddUp(t *testing.T) {
	server := redistest.Start(t)
	dir := t.TempDir()
	one, db := replica(t, server.Brisk, dir)
	two, twosDB := replica(t, server.Brisk, "")
	cut := func(h *history.History, tokens int64) {
		h.Cut(history.Cut{Feature: history.FeatureMCP, Server: "s", Tool: "t", Tokens: tokens})
	}
	cut(one, 1)
	cut(two, 10)
	share(t, one, two)
	wantTokens(t, "the first", one, 11, false)
	wantTokens(t, "the second", two, 11, false)
	cut(two, 100)
	share(t, one, two, two)
	wantTokens(t, "shared again", one, 111, false)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	again, againsDB := replica(t, server.Brisk, dir)
	wantTokens(t, "after a restart", again, 111, false)
	neighbour, neighboursDB := replica(t, server.Brisk, "")
	wantTokens(t, "a new one elsewhere", neighbour, 111, false)
	cut(again, 1000)
	share(t, again)
	wantTokens(t, "after a restart, more", again, 1111, false)
	wantTokens(t, "elsewhere", neighbour, 1111, false)

	server.Kill()
	for db.Up() == nil { // its owner checks every two seconds
		if t.Context().Err() != nil {
			t.Fatal("never noticed")
		}
		_ = db.Ping(t.Context()).Err()
	}
	wantTokens(t, "away", again, 1001, true)
	cut(two, 10000)
	server.Run()
	for _, db := range []*redisdb.DB{twosDB, againsDB, neighboursDB} { // each must reconnect
		server.Await(db)
	}
	for _, h := range []*history.History{again, two} {
		if err := h.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantTokens(t, "back, empty", neighbour, 11111, false)
	wantTokens(t, "back, empty, and there", again, 11111, false)
}
