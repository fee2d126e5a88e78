package redisdb_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
	"secateur/internal/store/redisdb/redistest"
)

// An engine that evicts has lost texts. They are not found, and a wrong text is never returned.
func TestEvictedIsNotFoundAndNeverAnotherText(t *testing.T) {
	server := redistest.Start(t, "--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru")
	a := newReplica(t, server.URL)
	long := func(n int) string { return originalstest.Noise(uint64(n), 40_000) }
	ids := map[string]int{}
	for n := range 400 {
		id, err := a.originals.Put(t.Context(), "tenant", long(n))
		if err == nil {
			ids[id] = n
		} else if !errors.Is(err, originals.ErrUnavailable) {
			t.Fatalf("Put: %v", err)
		}
	}
	found := 0
	for id, n := range ids {
		switch got, err := a.originals.Get(t.Context(), "tenant", id); {
		case err == nil && got == long(n):
			found++
		case !errors.Is(err, originals.ErrNotFound):
			t.Fatalf("text %d = %d bytes, %v, want it or ErrNotFound", n, len(got), err)
		}
	}
	if found == 0 || found == len(ids) {
		t.Errorf("%d of %d texts are found: nothing was evicted, or everything", found, len(ids))
	}
}

// A paused engine blocks callers only up to the put timeout, and works again without a restart.
func TestPausedEngineKeepsNothing(t *testing.T) {
	server := redistest.Start(t)
	a := newReplica(t, server.URL)
	store := originals.WithPutTimeout(a.originals, 100*time.Millisecond)
	direct := server.Client()
	defer func() { _ = direct.Close() }()
	if err := direct.Do(t.Context(), "client", "pause", "600000", "write").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "tenant", text(1)); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put into an engine that pauses: %v, want ErrUnavailable", err)
	}
	if err := direct.Do(t.Context(), "client", "unpause").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.originals.Put(t.Context(), "tenant", text(2)); err != nil {
		t.Errorf("Put after the pause: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// A replica cut off from the engine stores nothing, while the others continue. Afterwards it sees
// what they have stored.
func TestPartitionedReplica(t *testing.T) {
	server := redistest.Start(t)
	way := newPartition(t, server.Socket())
	a, b := newReplica(t, way.url), newReplica(t, server.URL)
	works(t, a, b, 1)
	way.cut()
	waitFor(t, func() bool { return a.db.Up() != nil })
	if _, err := a.originals.Put(t.Context(), "tenant", text(2)); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put by the one that is cut off: %v, want ErrUnavailable", err)
	}
	if _, ok, err := a.records.Get(t.Context(), "unknown"); ok || err == nil {
		t.Errorf("a record of which it knows nothing: %v, %v, want an error", ok, err)
	}
	if err := b.db.Up(); err != nil {
		t.Errorf("the other is told: %v", err)
	}
	id, err := b.originals.Put(t.Context(), "tenant", text(3))
	if err != nil {
		t.Fatalf("Put by the other: %v", err)
	}
	way.heal()
	waitFor(t, func() bool { return a.db.Up() == nil })
	if got, err := a.originals.Get(t.Context(), "tenant", id); err != nil || got != text(3) {
		t.Errorf("Get of what the other kept meanwhile = %d bytes, %v", len(got), err)
	}
	works(t, a, b, 4)
}

// partition is a connection to a server that can be cut: then no bytes move and nothing closes, as
// with an unplugged cable.
type partition struct {
	url string

	mu   sync.Mutex
	open chan struct{} // closed while bytes pass
}

func newPartition(t *testing.T, socket string) *partition {
	t.Helper()
	dir := filepath.Dir(socket)
	ln, err := net.Listen("unix", filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	p := &partition{url: "unix://" + filepath.Join(dir, "p") + "?read_timeout=5s&write_timeout=5s&dial_timeout=5s&pool_size=200", open: make(chan struct{})}
	close(p.open)
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, client, server)
			mu.Unlock()
			all.Go(func() { p.pass(client, server) })
			all.Go(func() { p.pass(server, client) })
		}
	})
	t.Cleanup(func() {
		p.heal()
		_ = ln.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return p
}

// pass copies until one side ends, and blocks while the connection is cut.
func (p *partition) pass(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		<-open
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close()
			}
			return
		}
	}
}

func (p *partition) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

func (p *partition) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}
