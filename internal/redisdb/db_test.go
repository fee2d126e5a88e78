package redisdb_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"secateur/internal/redisdb"
	"secateur/internal/redisdb/redistest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStartsWithoutTheEngineAndFindsItLater(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	var said lines
	db := open(t, redisdb.Options{URL: server.URL, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if db.Up() == nil {
		t.Fatal("an engine that is not there answers")
	}
	server.Run()
	waitFor(t, func() bool { return db.Up() == nil })
	server.Signal(syscall.SIGSTOP)
	waitFor(t, func() bool { return db.Up() != nil })
	server.Signal(syscall.SIGCONT)
	waitFor(t, func() bool { return db.Up() == nil })
	if n := strings.Count(said.String(), "does not answer"); n != 2 {
		t.Errorf("told %d times that it does not answer, want 2:\n%s", n, said.String())
	}
}

func TestLeavesANewerVersionAlone(t *testing.T) {
	server := redistest.Start(t)
	if err := server.Client().Set(t.Context(), "secateur:schema", "2", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL}); !errors.Is(err, redisdb.ErrNewer) {
		t.Errorf("Open = %v, want ErrNewer", err)
	}
}

func TestRedactedShowsNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"redis://u:hunter2@h:6379/1":                      "redis://u:xxxxx@h:6379/1",
		"redis://h?master_name=m&password=hunter2":        "redis://h",
		"rediss://:hunter2@a:1?addr=b:2&username=hunter2": "rediss://:xxxxx@a:1",
		"redis://%zz:hunter2@h":                           "redis:",
	} {
		if got := redisdb.Redacted(url); got != want {
			t.Errorf("Redacted(%s) = %s, want %s", url, got, want)
		}
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

// waitFor waits for a state that another process brings about.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come within a minute")
		}
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
