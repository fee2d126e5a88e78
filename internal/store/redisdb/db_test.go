package redisdb_test

import (
	"errors"
	"testing"
	"time"

	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLeavesANewerVersionAlone(t *testing.T) {
	server := redistest.Start(t)
	if err := server.Client().Set(t.Context(), "secateur:schema", "2", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL}); !errors.Is(err, redisdb.ErrNewer) {
		t.Errorf("Open = %v, want ErrNewer", err)
	}
}

func open(t *testing.T, o redisdb.Options) *redisdb.DB {
	t.Helper()
	db, err := redisdb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// waitFor waits for a state that another process causes.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come within three minutes")
		}
	}
}
