// One subscription for all: protocol revision 2026-07-28, subscriptions/listen.

package pool

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

const (
	methodListen = "subscriptions/listen"

	ackWait     = 2 * time.Second // for the server to say what it will tell
	barrierWait = 5 * time.Second
	barriers    = 3           // questions and answers in which a server gets round to the end of a request
	heardLong   = time.Minute // one that lasted this long is opened again with the first delay
)

// errHungUp is why a request ended that a server did not refuse.
var errHungUp = errors.New("the server has ended the subscriptions")

// listenStream keeps one subscriptions/listen open to a modern server, for all that we want to hear of it.
type listenStream struct {
	mu      sync.Mutex
	keeping bool           // a goroutine does
	changed chan struct{}  // closed when something else may be wanted now
	turned  chan struct{}  // closed when there is another now
	now     *listenRequest // the newest; nil: there was none yet
	count   int            // the newest's number
	least   int            // of one that somebody waits for
}

// listenRequest is one such request.
type listenRequest struct {
	number  int
	filter  filter
	session int
	began   time.Time
	stop    context.CancelFunc
	acked   chan struct{} // closed when the server said what it will tell
	over    chan struct{} // closed when the request has ended
	err     error         // why; set before over is closed
	ours    atomic.Bool   // we have ended it, for another one

	granted []string // resources that the server will tell of; set before acked is closed
}

func (k *listenStream) init() { k.changed, k.turned = make(chan struct{}), make(chan struct{}) }

// change says that something else may be wanted now.
func (k *listenStream) change() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.changed)
	k.changed = make(chan struct{})
}

// ask wants a request that tells of a resource: the present one, or one with at least the number that is returned.
func (k *listenStream) ask(uri string) (number int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.changed)
	k.changed = make(chan struct{})
	if now := k.now; now != nil && isClosed(now.acked) && !isClosed(now.over) && slices.Contains(now.granted, uri) {
		return now.number
	}
	k.least = k.count + 1
	return k.least
}

// lacks reports whether somebody waits for a newer request.
func (k *listenStream) lacks(now *listenRequest) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.number < k.least
}

// state is the newest request, and what is closed when that is another, and when something else may be wanted.
func (k *listenStream) state() (now *listenRequest, turned, changed <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now, k.turned, k.changed
}

// isHeard reports whether the server tells us of changes now.
func (k *listenStream) isHeard() bool {
	now, _, _ := k.state()
	return now != nil && isClosed(now.acked) && !isClosed(now.over)
}

// listenFirst begins to listen to a server that is there anew, and waits until it does: what changes from then on is
// told, and lists may be fetched.
func (c *Conn) listenFirst(ctx context.Context) {
	k := &c.listens
	k.change()
	k.mu.Lock()
	if !k.keeping {
		k.keeping = c.jobs.start(c.keepListening)
	}
	k.mu.Unlock()
	limit := time.After(ackWait)
	for {
		now, turned, _ := k.state()
		var acked, over <-chan struct{}
		if want, session := c.filter(); want.empty() {
			return
		} else if now != nil && now.session == session {
			acked, over = now.acked, now.over
		}
		select {
		case <-acked:
			return
		case <-over:
			return
		case <-turned:
		case <-limit:
			return
		case <-ctx.Done():
			return
		}
	}
}

// keepListening holds the request open, renews it when something else is wanted, and opens it again when it ends.
func (c *Conn) keepListening(ctx context.Context) {
	waits := upstream.Backoff{First: time.Second}
	for ctx.Err() == nil {
		now, _, changed := c.listens.state()
		want, session := c.filter()
		switch {
		case want.empty():
			now.end()
			now = nil
		case now == nil || now.session != session || isClosed(now.over) || !now.filter.same(want) || c.listens.lacks(now):
			now = c.renew(ctx, now, want, session)
		}
		select {
		case <-changed:
			waits.Reset()
		case <-now.ending():
			c.relisten(ctx, now, &waits, changed)
		case <-ctx.Done():
		}
	}
	now, _, _ := c.listens.state()
	now.end()
}

// relisten waits for the time to open a request again that has ended of itself.
func (c *Conn) relisten(ctx context.Context, ended *listenRequest, waits *upstream.Backoff, changed <-chan struct{}) {
	if refused, ok := asServerError(ended.err); ok && (refused.Code == wire.CodeMethodNotFound || refused.Code == wire.CodeInvalidParams) {
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return
	}
	if time.Since(ended.began) > heardLong {
		waits.Reset()
	}
	if !sleep(ctx, waits.Next(), changed) {
		return
	}
	all := catalog.Lists()
	c.stale(all[:]...) // what changed in between, nobody has told
}

// renew opens a request in place of another. Over HTTP the old one is kept until the new one works; on a pipe, where
// servers have been seen to mix up two of one client, it is ended before. That end is not answered: a few questions in between give the
// server the time for it.
func (c *Conn) renew(ctx context.Context, old *listenRequest, want filter, session int) *listenRequest {
	if old == nil || isClosed(old.over) || old.session != session {
		old.end()
		return c.listen(ctx, want, session)
	}
	if c.s.settings.URL == "" {
		old.end()
		barrier, cancel := context.WithTimeout(ctx, barrierWait)
		for range barriers {
			_, _ = c.ask(barrier, "server/discover", nil)
		}
		cancel()
		return c.listen(ctx, want, session)
	}
	next := c.listen(ctx, want, session)
	select {
	case <-next.acked:
	case <-next.over:
	case <-time.After(ackWait):
	case <-ctx.Done():
	}
	old.end()
	return next
}

// listen opens a request.
func (c *Conn) listen(ctx context.Context, want filter, session int) *listenRequest {
	ctx, stop := context.WithCancel(ctx)
	k := &c.listens
	k.mu.Lock()
	k.count++
	l := &listenRequest{
		number: k.count, filter: want, session: session, began: time.Now(),
		stop: stop, acked: make(chan struct{}), over: make(chan struct{}),
	}
	k.now = l
	close(k.turned)
	k.turned = make(chan struct{})
	k.mu.Unlock()
	if !c.jobs.start(func(context.Context) { c.hold(ctx, l) }) {
		l.err = ErrOver
		close(l.over)
	}
	return l
}

func (c *Conn) hold(ctx context.Context, l *listenRequest) {
	defer l.stop()
	_, l.err = c.askAs(ctx, l.id(), methodListen, l.filter.params(), upstream.CallOptions{Own: true, Patient: true})
	if l.err == nil || ctx.Err() != nil {
		l.err = errHungUp
	}
	if !l.ours.Load() {
		c.pool.log.DebugContext(ctx, "subscriptions ended", "server", c.ID(), "err", l.err)
	}
	close(l.over)
}

// id is the request's.
func (l *listenRequest) id() string { return "listen-" + strconv.Itoa(l.number) }

// end ends a request, if there is one, and waits for that.
func (l *listenRequest) end() {
	if l != nil {
		l.ours.Store(true)
		l.stop()
		<-l.over
	}
}

// ending is closed when the request has ended; nil where there is none.
func (l *listenRequest) ending() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.over
}

// heard waits until the server has said that it will tell of a resource.
func (c *Conn) heard(ctx context.Context, uri string) error {
	least := c.listens.ask(uri)
	limit := time.After(2 * ackWait)
	for {
		now, turned, _ := c.listens.state()
		var acked, over <-chan struct{}
		if now != nil && now.number >= least && !now.ours.Load() && slices.Contains(now.filter.uris, uri) {
			acked, over = now.acked, now.over
		}
		select {
		case <-acked:
			if !slices.Contains(now.granted, uri) {
				return &ServerError{Server: c.ID(), Code: wire.CodeInvalidParams, Object: notGranted()}
			}
			return nil
		case <-over:
			if now.ours.Load() {
				continue
			}
			return now.err
		case <-turned:
		case <-limit:
			return nil // it has not refused
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ended:
			return ErrOver
		case <-c.pool.over:
			return ErrOver
		}
	}
}

func notGranted() []byte {
	return wire.NewError(wire.CodeInvalidParams, "the server does not tell of changes of this resource").Append(nil)
}

// acknowledged takes in what the server says it will tell.
func (k *listenStream) acknowledged(n *wire.Message) {
	var said struct {
		Notifications struct {
			Resources []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
		Meta map[string]jsontext.Value `json:"_meta"`
	}
	if json.Unmarshal(n.Params, &said, lenient()) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == nil || isClosed(k.now.acked) {
		return
	}
	if id, named := said.Meta[era.MetaSubscription]; named && !wire.IDOf(id).Same(wire.StringID(k.now.id())) {
		return // of one that has been renewed
	}
	k.now.granted = said.Notifications.Resources
	close(k.now.acked)
}

// cancelled takes in that the server ends a request of ours: there is no other that it may.
func (k *listenStream) cancelled() {
	if now, _, _ := k.state(); now != nil {
		now.stop()
	}
}
