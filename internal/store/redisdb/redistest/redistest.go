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

// Server is a redis-server for one test, on a socket in its own directory.
type Server struct {
	URL string // for store.url, with long timeouts for a busy machine
	// with shorter timeouts, for tests that stop the server and wait until that is noticed
	Brisk string

	t    *testing.T
	dir  string
	args []string
	mu   sync.Mutex
	cmd  *exec.Cmd
	gone chan struct{} // closed when cmd has ended
}

// patience holds timeouts for an engine on a busy machine. The large pool keeps the client from
// probing a failed engine by itself, once a second.
const (
	patience = "?read_timeout=30s&write_timeout=30s&dial_timeout=30s&pool_size=200"
	briskly  = "?read_timeout=5s&write_timeout=5s&dial_timeout=5s&pool_size=200"
)

// Start runs a server until the test ends. Without the program the test is skipped, or fails in CI.
// args are additional options of redis-server.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	s := newServer(t, args)
	if !s.run() {
		t.Fatal("redis-server ended at once")
	}
	return s
}

// newServer returns a server that does not run yet.
func newServer(t *testing.T, args []string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed: make test installs it")
		}
		t.Skip("redis-server is not installed")
	}
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // t.TempDir is too long for a socket
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

// Run starts the server again after Kill, and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	if !s.run() {
		s.t.Fatal("redis-server ended at once")
	}
}

// run starts the server, and reports whether it runs. It does not if its port is taken.
func (s *Server) run() bool {
	s.t.Helper()
	args := append([]string{"--port", "0", "--unixsocket", filepath.Join(s.dir, "s"), "--dir", s.dir, "--save", "", "--appendonly", "no"}, s.args...)
	cmd := exec.Command("redis-server", args...) //nolint:noctx // ended by Kill
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

// Await waits until a client has reconnected.
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

// Socket returns the path of the server's socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// Client returns a direct connection, without our own code.
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

// Kill ends the server at once; its data is lost.
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

// Advance lets time pass for all stored data. It shortens each TTL by d, and lowers each score of a
// sorted set (an expiry).
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
