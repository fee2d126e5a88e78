package app

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"secateur/internal/config"
)

// Before a listener closes, new connections are refused and earlier ones can still be accepted. The
// system would reset them.
func TestNoConnectionIsLostToAClosingListener(t *testing.T) {
	ln, err := listen(t.Context(), "127.0.0.1:0", "listen")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	early, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	if !refuseConnections(ln) {
		t.Fatal("the filter was not taken")
	}
	if late, err := net.DialTimeout("tcp", ln.Addr().String(), 200*time.Millisecond); !isTimeout(err) {
		t.Errorf("a connection that comes late: %v, %v", late, err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if _, err := early.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := accepted.Read(make([]byte, 1)); err != nil {
		t.Errorf("who came early: %v", err)
	}
	_ = ln.Close()
	if _, err := net.Dial("tcp", ln.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("afterwards: %v, want refused", err)
	}
}

// Connections that arrived before the refusal are served before the listener closes, however busy
// the machine is.
func TestTheListenerStaysWhileSomethingWaits(t *testing.T) {
	cfg, mistakes := config.Load("c.toml", []byte("listen = \"127.0.0.1:0\"\ndrain_delay = 0.02\n[store]\nurl = \"memory:\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	ln, err := listen(t.Context(), "127.0.0.1:0", "listen")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted := make(chan net.Conn, 1)
	var isTaken atomic.Bool
	soon := func(f func()) {
		time.AfterFunc(200*time.Millisecond, func() {
			isTaken.Store(true)
			f()
		})
	}
	soon(func() {
		conn, err := ln.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	})
	if a.lameDuck(t.Context(), ln); !isTaken.Load() {
		t.Error("it is over, and a connection was not accepted")
	}
	resting, ok := a.connections.admit(<-accepted, connectionBytes)
	if !ok {
		t.Fatal("there is no room for a connection")
	}
	if _, err := client.Write([]byte("GET")); err != nil {
		t.Fatal(err)
	}
	isTaken.Store(false)
	soon(func() { _, _ = resting.Read(make([]byte, 10)) })
	if a.lameDuck(t.Context(), ln); !isTaken.Load() {
		t.Error("it is over, and a request was not read")
	}
	_ = resting.Close()
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
