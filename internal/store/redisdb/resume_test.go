package redisdb_test

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"

	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// A later connection resumes the TLS session of an earlier one.
func TestTLSSessionsAreResumed(t *testing.T) {
	server := redistest.Start(t)
	ca, cert, key := certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var resumed []bool
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				client, isTLS := conn.(*tls.Conn)
				if !isTLS || client.Handshake() != nil {
					return
				}
				mu.Lock()
				resumed = append(resumed, client.ConnectionState().DidResume)
				mu.Unlock()
				engine, err := net.Dial("unix", server.Socket())
				if err != nil {
					return
				}
				all.Go(func() { defer conn.Close(); _, _ = io.Copy(conn, engine) })
				_, _ = io.Copy(engine, conn)
				_ = engine.Close()
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() }) // after the connections are closed
	db := open(t, redisdb.Options{URL: "rediss://" + ln.Addr().String() + "?" + slowly + "&tls_ca=" + ca})
	if err := db.Ping(t.Context()).Err(); err != nil { // on another connection than the first probe
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(resumed) < 2 || resumed[0] || !resumed[1] {
		t.Errorf("sessions resumed: %v, want all but the first", resumed)
	}
}
