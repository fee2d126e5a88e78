// One subscription for all members: protocol revision 2026-07-28, subscriptions/listen.

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

	ackWait     = 2 * time.Second // for the server's acknowledgement
	barrierWait = 5 * time.Second
	barriers    = 3           // round trips after which a server has handled the end of a request
	heardLong   = time.Minute // a request that lasted this long is reopened with the first delay
)

// errHungUp means that the server ended the request without refusing it.
var errHungUp = errors.New("the server has ended the subscriptions")

// listenStream keeps one subscriptions/listen request open to a modern server, for all members. Its
// fields are guarded by mu.
type listenStream struct {
	mu      sync.Mutex
	keeping bool           // a goroutine keeps the request open
	changed chan struct{}  // closed when the wanted notifications may have changed
	turned  chan struct{}  // closed when now is replaced
	now     *listenRequest // the newest request; nil: none yet
	count   int            // number of the newest request
	least   int            // the lowest request number that satisfies the waiters
}

// listenRequest is one subscriptions/listen request.
type listenRequest struct {
	number  int
	filter  filter
	session int
	began   time.Time
	stop    context.CancelFunc
	acked   chan struct{} // closed when the server has acknowledged
	over    chan struct{} // closed when the request has ended
	err     error         // the reason; set before over is closed
	ours    atomic.Bool   // we ended it to replace it

	granted []string // resources that the server sends updates for; set before acked is closed
}

func (k *listenStream) init() { k.changed, k.turned = make(chan struct{}), make(chan struct{}) }

// change signals that the wanted notifications may have changed.
func (k *listenStream) change() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.changed)
	k.changed = make(chan struct{})
}

// ask requests updates of a resource. It returns the lowest number of a request that covers the
// resource: the current one's, or that of the next.
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

// lacks reports whether a waiter needs a newer request.
func (k *listenStream) lacks(now *listenRequest) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.number < k.least
}

// state returns the newest request and two channels. turned is closed when the request is replaced,
// changed when the wanted notifications may have changed.
func (k *listenStream) state() (now *listenRequest, turned, changed <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now, k.turned, k.changed
}

// isHeard reports whether the server currently sends us notifications of changes.
func (k *listenStream) isHeard() bool {
	now, _, _ := k.state()
	return now != nil && isClosed(now.acked) && !isClosed(now.over)
}

// listenFirst starts listening to a server with a new session and waits until it has acknowledged.
// Changes are announced from then on, so lists may be fetched.
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

// keepListening keeps the request open. It renews the request when other notifications are wanted
// and reopens it when it ends.
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

// relisten waits for the backoff before a request that ended by itself is reopened.
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
	c.stale(all[:]...) // changes in between were not announced
}

// renew replaces a request with another. Over HTTP the old one stays open until the new one works.
// On a pipe it is ended first, because servers have been seen to confuse two of one client. The
// server does not confirm the end, so a few round trips give it time.
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

// id returns the request's id.
func (l *listenRequest) id() string { return "listen-" + strconv.Itoa(l.number) }

// end ends a request, if any, and waits for its end.
func (l *listenRequest) end() {
	if l != nil {
		l.ours.Store(true)
		l.stop()
		<-l.over
	}
}

// ending returns a channel closed when the request has ended; nil: no request.
func (l *listenRequest) ending() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.over
}

// heard waits until the server has confirmed updates of a resource.
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

// acknowledged records what the server has confirmed.
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
		return // it belongs to a request that has been replaced
	}
	k.now.granted = said.Notifications.Resources
	close(k.now.acked)
}

// cancelled handles the server's cancellation of our listen request, the only one it may cancel.
func (k *listenStream) cancelled() {
	if now, _, _ := k.state(); now != nil {
		now.stop()
	}
}
