package app

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// deadlineConn counts how often the read deadline is set.
type deadlineConn struct {
	net.Conn
	set atomic.Int32
}

func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.set.Add(1)
	return c.Conn.SetReadDeadline(t)
}

func newWaitingConn(t *testing.T) (c *waitingConn, under *deadlineConn, peer net.Conn) {
	t.Helper()
	ours, peer := net.Pipe()
	t.Cleanup(func() { _, _ = ours.Close(), peer.Close() })
	under = &deadlineConn{Conn: ours}
	return &waitingConn{Conn: under}, under, peer
}

func TestWaitingConnEndsReadsAtTheirDeadline(t *testing.T) {
	for _, c := range []struct {
		rule string
		set  func(c net.Conn, t time.Time) error
		wait time.Duration // until it is set
	}{
		{"set before the read", net.Conn.SetReadDeadline, 0},
		{"set while one waits", net.Conn.SetReadDeadline, time.Second},
		{"of reads and writes, before", net.Conn.SetDeadline, 0},
		{"of reads and writes, while one waits", net.Conn.SetDeadline, time.Second},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, _, _ := newWaitingConn(t)
				began := time.Now()
				set := func() {
					if err := c.set(conn, began.Add(3*time.Second)); err != nil {
						t.Error(err)
					}
				}
				if c.wait > 0 {
					time.AfterFunc(c.wait, set)
				} else {
					set()
				}
				_, err := conn.Read(make([]byte, 1))
				if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != 3*time.Second {
					t.Errorf("Read = %v after %s, want the deadline's error after 3s", err, took)
				}
			})
		})
	}
}

// A read that begins just as its deadline expires does not wait: net/http cancels its background
// read this way.
func TestWaitingConnMissesNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _, peer := newWaitingConn(t)
		for range 1000 {
			ended := make(chan error)
			go func() {
				_, err := conn.Read(make([]byte, 1))
				ended <- err
			}()
			if err := conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("Read = %v, want the deadline's error", err)
			}
			if err := conn.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			time.Sleep(time.Hour)
			_, _ = peer.Write([]byte("x"))
		}()
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("Read without a deadline = %d, %v, want what comes in an hour", n, err)
		}
	})
}

func TestWaitingConnSetsNoDeadlineThatNobodyWaitsUnder(t *testing.T) {
	conn, under, peer := newWaitingConn(t)
	go func() { _, _ = peer.Write([]byte("xx")) }()
	for range 2 {
		for i := range 4 {
			if err := conn.SetReadDeadline(time.Now().Add(time.Duration(i) * time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := under.set.Load(); n != 0 {
		t.Errorf("the deadline was set %d times, and none was in force in a read", n)
	}
}
