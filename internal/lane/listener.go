package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/overdue"
)

// patience is how long a request lasts before somebody looks whether its client is still there.
const patience = 25 * time.Millisecond

// Listener is what an [http.Server] accepts connections from: those that are not for us.
type Listener struct {
	net.Listener

	web    *http.Server
	ctx    context.Context //nolint:containedctx // of all requests: what net/http's BaseContext gives
	lasts  overdue.Queue[*exchange]
	begin  sync.Once
	others chan net.Conn
	failed chan error
	closed chan struct{} // no connection is to be accepted any more
	last   chan struct{} // closed when none is
	ends   sync.Once

	stopping atomic.Bool // the next answer of each connection is its last

	mu    sync.Mutex
	open  map[*conn]struct{} // guarded by mu
	ended bool               // guarded by mu; none may be added
}

// New has the connections of ln served for web, whose settings hold here as well. They come once web serves what it returns.
func New(ln net.Listener, web *http.Server) *Listener {
	l := &Listener{
		Listener: ln, web: web, ctx: context.Background(),
		others: make(chan net.Conn), failed: make(chan error),
		closed: make(chan struct{}), last: make(chan struct{}), open: map[*conn]struct{}{},
	}
	if web.BaseContext != nil {
		l.ctx = web.BaseContext(ln)
	}
	l.lasts.After, l.lasts.Late = patience, (*exchange).watch
	return l
}

// Accept waits for a connection that is for net/http.
func (l *Listener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.accept() })
	select {
	case c := <-l.others:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// accept takes connections until there are no more. Where descriptors are wanting it waits as net/http would, but here: meanwhile the server takes
// those that are handed over. What else goes wrong is told to it.
func (l *Listener) accept() {
	defer close(l.last)
	var pause time.Duration
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			if isPassing(err) {
				pause = min(max(2*pause, leastPause), longestPause)
				l.logf("http: Accept error: %v; retrying in %v", err, pause)
				select {
				case <-time.After(pause):
					continue
				case <-l.closed:
					return
				}
			}
			select {
			case l.failed <- err:
				continue
			case <-l.closed:
				return
			}
		}
		pause = 0
		if _, isSecured := nc.(*tls.Conn); isSecured {
			l.handOver(nc)
			continue
		}
		if c := newConn(l, nc); l.add(c) {
			go c.serve()
		} else {
			_ = nc.Close()
		}
	}
}

// How long nothing is accepted after a failure: as long as net/http waits.
const leastPause, longestPause = 5 * time.Millisecond, time.Second

// isPassing reports whether a failure to accept may be over soon.
func isPassing(err error) bool {
	var of net.Error
	return errors.As(err, &of) && of.Temporary() //nolint:staticcheck // what net/http asks
}

// handOver gives a connection to the server.
func (l *Listener) handOver(nc net.Conn) {
	select {
	case l.others <- nc:
	case <-l.closed:
		_ = nc.Close()
	}
}

func (l *Listener) logf(format string, args ...any) {
	if log := l.web.ErrorLog; log != nil {
		log.Printf(format, args...)
	}
}

func (l *Listener) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.open[c] = struct{}{}
	return true
}

func (l *Listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Close accepts no more connections. Those that there are stay. It is the server that calls it.
func (l *Listener) Close() (err error) {
	l.ends.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// EndResting closes the connections that nobody uses. It returns how many there were, with those that are used.
func (l *Listener) EndResting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.leave()
	}
	return len(l.open)
}

const (
	// newMay is how long a connection that has just been made counts as used: its first request may be on the way. net/http gives as much.
	newMay = 5 * time.Second

	leastLook, longestLook = time.Millisecond, 500 * time.Millisecond // between two looks at who is left
)

// Shutdown closes connections when nobody uses them, and returns once there are none, or ctx is done. The server is shut down at the same time, and
// that no new ones come is waited for: the last one may be the only one.
func (l *Listener) Shutdown(ctx context.Context) error {
	l.stopping.Store(true)
	l.begin.Do(func() { close(l.last) }) // the server never began
	select {
	case <-l.last:
	case <-ctx.Done():
	}
	look := time.NewTimer(0)
	defer look.Stop()
	for pause := leastLook; ; pause = min(2*pause, longestLook) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		if l.EndResting() == 0 {
			return nil
		}
		look.Reset(pause)
	}
}

// End closes all connections, and ends their requests.
func (l *Listener) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for c := range l.open {
		c.cancel()
		_ = c.peer.Close()
	}
}
