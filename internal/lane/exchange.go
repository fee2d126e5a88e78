package lane

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"secateur/internal/overdue"
)

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// exchange is one request and its answer.
type exchange struct {
	conn   *conn
	body   body
	answer response

	lasts overdue.Entry[*exchange]

	mu       sync.Mutex
	over     bool          // guarded by mu
	watching chan struct{} // guarded by mu; nil: nobody looks whether the client is there; closed when nobody does any more
}

// exchange has a request answered; false: it was the connection's last.
func (c *conn) exchange(r *http.Request) (goesOn bool) {
	e := &exchange{conn: c}
	e.body = body{ReadCloser: r.Body, of: e}
	e.answer.begin(e)
	defer e.answer.release()
	defer e.unwatch()
	// What is left of the body is read, also on a connection that ends and when a handler panics: closed over what nobody has read, it is reset, and
	// the answer with it. And who reads from the body later gets nothing of the next request.
	defer func() { goesOn = e.body.Close() == nil && goesOn }()
	e.handle(r)
	return e.answer.finish()
}

// handle has the handler answer. The request's context ends with it, also where the client takes its time over the answer.
func (e *exchange) handle(r *http.Request) {
	ctx, cancel := context.WithCancel(e.conn.ctx)
	defer cancel()
	r = r.WithContext(ctx)
	r.RemoteAddr = e.conn.remote
	if r.Body == http.NoBody {
		e.body.done = true
		e.conn.in.lasts.Add(&e.lasts, e)
	} else {
		r.Body = &e.body
	}
	e.conn.in.web.Handler.ServeHTTP(&e.answer, r)
}

// body is a request's. It notices when all of it has been read: from then on the client has nothing to say.
type body struct {
	io.ReadCloser
	of *exchange

	mu     sync.Mutex
	done   bool // guarded by mu, like failed
	failed bool // it was closed, and its end had not come
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.end()
	}
	return n, err
}

// Close reads what is left. Where that does not come it fails each time: net/http's own would not say so again, and the rest be taken for a request.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.ReadCloser.Close()
	if b.failed = b.failed || err != nil; b.failed {
		return cmp.Or(err, http.ErrBodyReadAfterClose)
	}
	b.end()
	return nil
}

// end is called with the lock held.
func (b *body) end() {
	if !b.done {
		b.done = true
		b.of.conn.in.lasts.Add(&b.of.lasts, b.of)
	}
}

// drain reads what the handler has left; false: it does not come.
func (b *body) drain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		if _, err := io.Copy(io.Discard, b.ReadCloser); err != nil {
			return false
		}
		b.end()
	}
	return true
}

// watch begins to look whether the client is still there. Where something was found before that nobody has read yet, it is: another look would find
// the byte behind that.
func (e *exchange) watch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || e.watching != nil || e.conn.source.has {
		return
	}
	_ = e.conn.peer.SetReadDeadline(time.Time{}) // it was for the body
	e.watching = make(chan struct{})
	go e.look(e.watching)
}

// look waits until the client sends something, which is the next request, or has gone.
func (e *exchange) look(ended chan<- struct{}) {
	defer close(ended)
	c := e.conn
	n, err := c.peer.Read(c.source.byte[:])
	c.source.has = n == 1
	e.mu.Lock()
	defer e.mu.Unlock()
	if isOurs := e.over && errors.Is(err, os.ErrDeadlineExceeded); err != nil && !isOurs {
		c.cancel()
	}
}

// unwatch ends that. The deadline that it leaves is replaced by whoever waits next.
func (e *exchange) unwatch() {
	e.lasts.End()
	e.mu.Lock()
	e.over = true
	ended := e.watching
	e.mu.Unlock()
	if ended != nil {
		_ = e.conn.peer.SetReadDeadline(longAgo)
		<-ended
	}
}
