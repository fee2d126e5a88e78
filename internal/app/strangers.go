package app

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
)

// Bounds of a request's header. A parsed field of six bytes takes more than a hundred bytes. Until
// its caller is known, a header is therefore charged at parsedRatio times its size.
const (
	maxHeaderBytes  = 16 << 10
	maxHeaderFields = 128
	parsedRatio     = 20
	// net/http reads 4 KiB more than MaxHeaderBytes.
	mostCharged = (maxHeaderBytes + 4<<10) * parsedRatio
)

// errNoRoom ends a connection if its header does not fit into memory.
var errNoRoom = errors.New("no memory is left for headers of unknown callers")

// fields returns the number of a header's fields.
func fields(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}

// charge is the memory charged to a connection for a request of an unknown caller.
type charge struct {
	mu     sync.Mutex // guards the fields below
	bytes  int64
	exempt bool // the caller is known, or the connection is closed
}

// Read reads, and charges the connection until the caller is known. If unknown callers have used up
// their memory, a connection with a higher charge is closed, or else this one.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.waitingConn.Read(p)
	for n > 0 && !c.take(int64(n)) {
		if !c.all.closeHeavier(c) {
			c.all.closed.WithLabelValues(closedStranger).Inc()
			return 0, errNoRoom
		}
	}
	return n, err
}

// take charges the connection; false: it does not fit.
func (c *connection) take(read int64) bool {
	c.charge.mu.Lock()
	defer c.charge.mu.Unlock()
	n := min(read*parsedRatio, mostCharged-c.charge.bytes)
	if c.charge.exempt || n <= 0 {
		return true
	}
	if c.all.charged.Add(n) > c.all.limit {
		c.all.charged.Add(-n)
		return false
	}
	c.charge.bytes += n
	return true
}

// settle refunds the charge. exempt says whether further reads are free.
func (c *connection) settle(exempt bool) {
	c.charge.mu.Lock()
	defer c.charge.mu.Unlock()
	c.all.charged.Add(-c.charge.bytes)
	c.charge.bytes, c.charge.exempt = 0, exempt
}

func (c *connection) weight() int64 {
	c.charge.mu.Lock()
	defer c.charge.mu.Unlock()
	return c.charge.bytes
}

// closeHeavier closes a connection with a higher charge; false: none.
func (c *connections) closeHeavier(than *connection) bool {
	heaviest := c.heaviest(than.weight())
	if heaviest == nil {
		return false
	}
	heaviest.settle(true)
	c.closed.WithLabelValues(closedStranger).Inc()
	_ = heaviest.Conn.Close()
	return true
}

// heaviest returns the connection with the highest charge above than, from a sample; nil: none.
func (c *connections) heaviest(than int64) (found *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := 0
	for conn := range c.open {
		if weight := conn.weight(); weight > than {
			found, than = conn, weight
			if seen++; seen == enoughToCompare {
				break
			}
		}
	}
	if found != nil {
		found.rests.Store(isLeaving)
	}
	return found
}

type connectionKey struct{}

// withConnection puts the connection into its requests' context, for callerIsKnown.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// callerIsKnown marks the connection of a request as in use. Connections of unknown callers always
// count as idle, so that they can be evicted.
func callerIsKnown(ctx context.Context) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return
	}
	c.known.Store(true)
	c.use()
	c.settle(true)
}

// use marks the connection as in use, unless it is being evicted.
func (c *connection) use() {
	if rests := c.rests.Load(); rests > 0 {
		c.rests.CompareAndSwap(rests, 0)
	}
}
