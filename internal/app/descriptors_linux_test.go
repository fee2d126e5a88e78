package app

import (
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/sys/unix"
)

// gated is a listener that accepts a connection for each value of turns.
type gated struct {
	net.Listener
	turns <-chan struct{}
}

func (g gated) Accept() (net.Conn, error) {
	<-g.turns
	return g.Listener.Accept()
}

// takeDescriptors uses up all descriptors of this process until the test ends.
func takeDescriptors(t *testing.T) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = min(few.Cur, 512)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	t.Cleanup(func() {
		for _, f := range taken {
			_ = f.Close()
		}
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &before)
	})
	for range 1024 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
}

// hasResting reports whether a connection is idle.
func (c *connections) hasResting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if conn.rests.Load() > 0 {
			return true
		}
	}
	return false
}

// If all descriptors are in use, a new connection is closed at once. An idle one makes room for it.
func TestWithoutDescriptorsNewConnectionsDoNotWait(t *testing.T) {
	turns := make(chan struct{}, 10)
	r := newRoomBehind(t, 100, func(ln net.Listener) net.Listener { return gated{ln, turns} })
	t.Cleanup(func() { close(turns) })
	used, refused, later := r.dial(), r.dial(), r.dial()
	turns <- struct{}{}
	used.ask("/hold")
	<-r.under
	takeDescriptors(t)

	turns <- struct{}{}
	turns <- struct{}{} // with the spare descriptor
	refused.ask("/")
	if body, err := refused.answer(); err == nil {
		t.Errorf("without a descriptor: %q, want it closed", body)
	}
	if n := testutil.ToFloat64(r.all.closed.WithLabelValues(closedNew)); n != 1 {
		t.Errorf("%v refused, want 1", n)
	}

	close(r.hold)
	if body, err := used.answer(); err != nil || body != "here" {
		t.Errorf("the one in use: %q, %v", body, err)
	}
	for deadline := time.Now().Add(time.Minute); !r.all.hasResting(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the connection does not become idle")
		}
	}
	turns <- struct{}{}
	turns <- struct{}{} // with the descriptor of the idle one
	later.ask("/")
	if body, err := later.answer(); err != nil || body != "here" {
		t.Errorf("beside an idle one: %q, %v", body, err)
	}
}
