// Package redistest starts a real redis-server for tests.
package redistest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server of a test's own, on a socket in a directory of its own.
type Server struct {
	URL   string // for store.url, with patience for a machine that has much else to do
	Brisk string // the same with less of it, for a test that stops the server and waits until that is noticed

	t    *testing.T
	dir  string
	args []string
	mu   sync.Mutex
	cmd  *exec.Cmd
	gone chan struct{} // closed when cmd has ended
}

// patience is what a test grants an engine that shares the machine with everything else. The pool is so large that the client does not begin to probe
// by itself, once a second, whether the engine is back.
const (
	patience = "?read_timeout=30s&write_timeout=30s&dial_timeout=30s&pool_size=200"
	briskly  = "?read_timeout=5s&write_timeout=5s&dial_timeout=5s&pool_size=200"
)

// Start runs a server until the test ends. Without the program the test is skipped, but not in CI. args are options of
// redis-server in addition.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	s := newServer(t, args)
	if !s.run() {
		t.Fatal("redis-server ended at once")
	}
	return s
}

// newServer is a server that does not run yet.
func newServer(t *testing.T, args []string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: make test installs it")
		}
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // t.TempDir is too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	socket := "unix://" + filepath.Join(dir, "s")
	s := &Server{URL: socket + patience, Brisk: socket + briskly, t: t, dir: dir, args: args}
	t.Cleanup(func() {
		s.Kill()
		_ = os.RemoveAll(dir)
	})
	return s
}

// Run starts the server anew after Kill and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	if !s.run() {
		s.t.Fatal("redis-server ended at once")
	}
}

// run reports whether the server runs: it does not where somebody else has its port.
func (s *Server) run() bool {
	s.t.Helper()
	args := append([]string{"--port", "0", "--unixsocket", filepath.Join(s.dir, "s"), "--dir", s.dir, "--save", "", "--appendonly", "no"}, s.args...)
	cmd := exec.Command("redis-server", args...) //nolint:noctx // the test's own words; ended by Kill
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	s.mu.Lock()
	s.cmd, s.gone = cmd, gone
	s.mu.Unlock()
	c := s.Client()
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for c.Ping(ctx).Err() != nil {
		select {
		case <-gone:
			s.t.Logf("redis-server: %s", out.String())
			return false
		case <-ctx.Done():
			s.t.Fatal("redis-server does not answer")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

// Await returns once a client has found the server again.
func (s *Server) Await(c redis.UniversalClient) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		err := c.Ping(ctx).Err()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			s.t.Fatalf("redis-server is not found again: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Socket is the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// Client is a connection past our own code.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: filepath.Join(s.dir, "s")})
}

// Signal sends the server a signal.
func (s *Server) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends the server at once; what it held is gone.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.gone
	s.cmd = nil
}

// Advance lets time pass for everything that is kept: each time to live is shorter by d, each score of a sorted set
// (the moments of expiry in there) earlier.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	ctx, c := context.Background(), s.Client()
	defer func() { _ = c.Close() }()
	keys, err := c.Keys(ctx, "*").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, key := range keys {
		if left := c.PTTL(ctx, key).Val(); left > 0 && left <= d {
			c.Del(ctx, key)
			continue
		} else if left > 0 {
			c.PExpire(ctx, key, left-d)
		}
		if c.Type(ctx, key).Val() != "zset" {
			continue
		}
		for _, member := range c.ZRange(ctx, key, 0, -1).Val() {
			c.ZIncrBy(ctx, key, -float64(d.Milliseconds()), member)
		}
	}
}
