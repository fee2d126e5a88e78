package upstream

import (
	"context"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/wire"
)

// call is one request in flight. On the wire, its number serves as id and progress token. Numbers
// are unique per connection, whatever ids the callers use.
type call struct {
	number  int64
	id      wire.ID      // the caller's
	token   wire.ID      // the caller's progress token; zero: none
	own     bool         // a request by secateur itself, not by a caller
	by      any          // CallOptions.Caller
	kind    kind         // method and name
	greets  bool         // part of a handshake
	handler Handler      // CallOptions.Related
	answer  chan outcome // gets one value, from the goroutine that removed the call from calls
	related *mailbox     // notifications for handler; nil: not wanted
	mailbox mailbox      // storage for related
	header  []Header     // CallOptions.Header
	hold    *budget.Hold // accounts for the bytes of the answer
	watch   watch        // watches the call while the link sends it

	began  time.Time    // when the call got its number
	sign   atomic.Int64 // last sign of life from the server, as an offset from began
	asking atomic.Int32 // unanswered requests from the server for this call
	stage  atomic.Int32 // queued, then sent or dropped
	over   atomic.Bool  // the server has answered
	whole  atomic.Bool  // and nothing follows the answer
	strays atomic.Int32 // responses on the call's own stream that did not answer it

	leaving sync.Mutex
	gone    bool // guarded by leaving; the caller no longer waits
	// guarded by leaving; ends the call's POST or similar work; nil: none
	cancelWork context.CancelFunc
	told       []*func() // guarded by leaving; run when the caller leaves
}

// give delivers the outcome. It is called once per call.
func (c *call) give(o outcome) { c.answer <- o }

// The stages of a call. A call dropped while queued is never sent.
const (
	queued int32 = iota
	sent
	dropped
)

type outcome struct {
	reply *Reply
	err   error
}

func newCall(id, token wire.ID, handler Handler) *call {
	c := &call{id: id, token: token, handler: handler, answer: make(chan outcome, 1)}
	if handler != nil {
		c.related = &c.mailbox
	}
	return c
}

// renew restarts the response timeout.
func (c *call) renew() { c.sign.Store(int64(time.Since(c.began))) }

// left returns the remaining time until the timeout. The timeout pauses while the server waits for
// its client.
func (c *call) left(limit time.Duration) time.Duration {
	if c.asking.Load() > 0 {
		return limit
	}
	return limit - (time.Since(c.began) - time.Duration(c.sign.Load()))
}

// calls holds one connection's calls that wait for an answer.
type calls struct {
	mu     sync.Mutex
	last   int64           // guarded by mu; the newest number
	open   map[int64]*call // guarded by mu
	closed error           // guarded by mu; why no further calls are accepted
	left   chan struct{}   // guarded by mu; closed when a call gets its outcome; nil: no waiter

	asking map[kind]struct{} // guarded by mu; kinds of calls that made the server ask something
}

// add gives the call its number. It fails if the connection has ended.
func (t *calls) add(c *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addLocked(c)
}

func (t *calls) addLocked(c *call) error {
	if t.closed != nil {
		return t.closed
	}
	if t.open == nil {
		t.open = map[int64]*call{}
	}
	t.last++
	c.number, c.began = t.last, time.Now()
	t.open[c.number] = c
	return nil
}

// take removes and returns the call with this id. It returns nil if the call was answered or
// abandoned, or never existed. The caller must give the call its outcome.
func (t *calls) take(id wire.ID) *call {
	n, ok := number(id)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open[n]
	delete(t.open, n)
	t.departed()
	return c
}

// find is like take, but does not remove the call.
func (t *calls) find(id wire.ID) *call {
	n, ok := number(id)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[n]
}

// remove abandons a call. It returns false if the call was already taken and its outcome is
// available or imminent.
func (t *calls) remove(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.open[c.number]
	delete(t.open, c.number)
	t.departed()
	return ok
}

// only returns the single open call of a caller, or nil if none or several are open.
func (t *calls) only() *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found *call
	for _, c := range t.open {
		if c.own {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}

// callers returns the calls that secateur did not make for itself.
func (t *calls) callers() []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []*call
	for _, c := range t.open {
		if !c.own {
			found = append(found, c)
		}
	}
	return found
}

// waits reports whether the call has no outcome yet.
func (t *calls) waits(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.open[c.number]
	return ok
}

// close fails all current and future calls.
func (t *calls) close(err error) {
	t.mu.Lock()
	open := t.open
	t.open = nil
	t.departed()
	if t.closed == nil {
		t.closed = err
	}
	t.mu.Unlock()
	for _, c := range open {
		c.give(outcome{err: err})
	}
}

// number parses one of our ids. Servers without integers may turn 7 into 7.0.
func number(id wire.ID) (int64, bool) {
	text := id.String()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
