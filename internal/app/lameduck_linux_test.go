package app

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// Before a listener closes nobody new is let in, and who came before is still there to be accepted: the system would reset it.
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

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
