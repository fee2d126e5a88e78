//go:build unix

package redisdb_test

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

func TestStartsWithoutTheEngineAndFindsItLater(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	var said lines
	db := open(t, redisdb.Options{URL: server.Brisk, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if db.Up() == nil {
		t.Fatal("an engine that is not there answers")
	}
	server.Run()
	waitFor(t, func() bool { return db.Up() == nil })
	server.Signal(syscall.SIGSTOP)
	waitFor(t, func() bool { return db.Up() != nil })
	server.Signal(syscall.SIGCONT)
	waitFor(t, func() bool { return db.Up() == nil })
	// Exactly the changes are logged. A busy machine may cause more of them.
	down, turns := strings.Count(said.String(), "does not answer"), regexp.MustCompile(`does not answer|answers again`).FindAllString(said.String(), -1)
	if down < 2 || len(slices.Compact(slices.Clone(turns))) != len(turns) {
		t.Errorf("told %q, want each change once:\n%s", turns, said.String())
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
