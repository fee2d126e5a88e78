package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/ops/telemetry"
)

// The memory of an open connection, used or idle: buffers and the stack of its reader; with TLS
// also its records.
const (
	connectionBytes    = 24 << 10
	tlsConnectionBytes = 48 << 10
)

// Bounds of the memory for connections.
const (
	leastForConnections   = 8 << 20
	unknownForConnections = 128 << 20
)

// forConnections returns how much of the memory connections may take.
func forConnections(memory int64) int64 {
	if memory <= 0 {
		return unknownForConnections
	}
	return max(memory/16, leastForConnections)
}

// enoughToCompare is the sample size when looking for the connection idle longest. With many
// connections an approximation suffices (as in Redis's eviction).
const enoughToCompare = 64

// roomWait is how long a new connection waits for evicted ones to end. Others wait in the system's
// backlog meanwhile.
const roomWait = time.Second

// connections are the connections of a listener, bounded in memory. If the limit is reached, an
// idle one is evicted. It is safe for concurrent use.
type connections struct {
	limit  int64 // bytes
	closed *prometheus.CounterVec
	log    *slog.Logger
	seldom telemetry.Seldom

	bytes   atomic.Int64
	charged atomic.Int64  // for headers of unknown callers, see strangers.go; also bounded by limit
	freed   chan struct{} // signals that a connection has ended since the last check

	mu   sync.Mutex // guards open
	open map[*connection]struct{}
}

// Labels for the reasons of closing a connection.
const (
	closedResting  = "resting"  // it was idle
	closedNew      = "new"      // all others were in use
	closedStranger = "stranger" // its caller was unknown and its header took too much
)

func newConnections(limit int64, registry prometheus.Registerer, log *slog.Logger) *connections {
	c := &connections{limit: limit, log: log, open: map[*connection]struct{}{}, freed: make(chan struct{}, 1)}
	c.closed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "secateur_connections_closed_total", Help: "Connections that were closed because there was no memory or no descriptor for more, by which.",
	}, []string{"connection"})
	c.closed.WithLabelValues(closedResting)
	c.closed.WithLabelValues(closedNew)
	c.closed.WithLabelValues(closedStranger)
	registry.MustRegister(c.closed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "secateur_connections", Help: "Connections that clients have open.",
	}, func() float64 { return float64(c.number()) }))
	return c
}

func (c *connections) number() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// admit counts an accepted connection and its memory. It closes it and returns false if it does not
// fit.
func (c *connections) admit(conn net.Conn, bytes int64) (*connection, bool) {
	counted := &connection{waitingConn: waitingConn{Conn: conn}, all: c, bytes: bytes}
	counted.rests.Store(time.Now().UnixNano())
	if !c.makeRoom(counted) {
		c.refuse(conn, "there is no memory for more, and all are in use", "limit_bytes", c.limit)
		return nil, false
	}
	return counted, true
}

// refuse closes a connection that has no room.
func (c *connections) refuse(conn net.Conn, why string, args ...any) {
	c.closed.WithLabelValues(closedNew).Inc()
	c.seldom.Warn(context.Background(), c.log, "a connection was refused: "+why, args...)
	_ = conn.Close()
}

// makeRoom adds a connection once it fits. It closes idle connections; each counts until its reader
// has noticed.
func (c *connections) makeRoom(counted *connection) bool {
	if c.add(counted) {
		return true
	}
	patience := time.NewTimer(roomWait)
	defer patience.Stop()
	for leaving := int64(0); ; {
		if leaving < counted.bytes {
			if longest := c.evict(); longest != nil {
				leaving += longest.bytes
			} else if leaving == 0 {
				return false
			}
		}
		select {
		case <-c.freed:
		case <-patience.C:
			return c.add(counted)
		}
		if c.add(counted) {
			return true
		}
	}
}

func (c *connections) add(counted *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes.Load()+counted.bytes > c.limit {
		return false
	}
	c.open[counted] = struct{}{}
	c.bytes.Add(counted.bytes)
	return true
}

// evict closes a connection that was idle for long; nil: all are in use.
func (c *connections) evict() *connection {
	longest := c.resting()
	if longest != nil {
		c.closed.WithLabelValues(closedResting).Inc()
		_ = longest.Conn.Close()
	}
	return longest
}

// resting picks a connection that was idle for long, and removes it so that it is closed once; nil:
// all are in use.
func (c *connections) resting() (longest *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, seen := int64(0), 0
	for conn := range c.open {
		rests := conn.rests.Load()
		if rests <= 0 {
			continue
		}
		if longest == nil || rests < since {
			longest, since = conn, rests
		}
		if seen++; seen == enoughToCompare {
			break
		}
	}
	if longest != nil {
		longest.rests.Store(isLeaving)
	}
	return longest
}

// changed receives the state changes of a connection from the HTTP server.
func changed(conn net.Conn, state http.ConnState) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	counted, ok := conn.(*connection)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		if counted.known.Load() {
			counted.use()
		}
	case http.StateHijacked:
		counted.use()
	case http.StateIdle:
		counted.rests.Store(time.Now().UnixNano())
		counted.settle(false)
	}
}

// connection counts until it is closed.
type connection struct {
	waitingConn

	all   *connections
	bytes int64
	// Idle since (or created at), in nanoseconds; 0: in use by a known caller; isLeaving: being
	// evicted.
	rests atomic.Int64
	known atomic.Bool // an earlier request on it had a known caller

	charge charge
}

const isLeaving = -1

// Close closes the connection and stops counting it.
func (c *connection) Close() error {
	c.all.forget(c)
	return c.Conn.Close()
}

func (c *connections) forget(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.open[conn]; !ok {
		return
	}
	delete(c.open, conn)
	c.bytes.Add(-conn.bytes)
	conn.settle(true)
	select {
	case c.freed <- struct{}{}:
	default:
	}
}
