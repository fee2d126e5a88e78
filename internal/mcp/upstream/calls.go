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

// call is one request on its way. On the wire it has a number of its own, which is its id and its progress token; no
// two calls of a connection share one, whatever ids their callers gave them.
type call struct {
	number  int64
	id      wire.ID      // the caller's
	token   wire.ID      // the caller's progress token; zero: it gave none
	own     bool         // a question of ours, not a caller's
	by      any          // CallOptions.Caller
	kind    kind         // what it does
	greets  bool         // part of a handshake
	handler Handler      // CallOptions.Related
	answer  chan outcome // gets one value, from whoever took the call out of its table
	related *mailbox     // notifications for handler; nil: none wanted
	mailbox mailbox      // that related is
	header  []Header     // CallOptions.Header
	hold    *budget.Hold // counts the bytes of its answer
	watch   watch        // over it while its link sends it

	began  time.Time    // when it got its number
	sign   atomic.Int64 // when the server last gave a sign of life for it, after began
	asking atomic.Int32 // requests of the server for it that are not answered yet
	stage  atomic.Int32 // queued, then sent or dropped
	over   atomic.Bool  // the server has answered
	whole  atomic.Bool  // and nothing follows what it answered with
	strays atomic.Int32 // answers on its own stream that were not to it

	leaving    sync.Mutex
	gone       bool               // guarded by leaving; its caller has left it
	cancelWork context.CancelFunc // guarded by leaving; ends its POST or the like; nil: there is none
	told       []*func()          // guarded by leaving; called when the caller leaves
}

// give hands the call its outcome, which it gets once.
func (c *call) give(o outcome) { c.answer <- o }

// The stages of a call. One that is dropped before it was sent is not sent at all.
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

// renew starts the wait for an answer anew.
func (c *call) renew() { c.sign.Store(int64(time.Since(c.began))) }

// left is how long the call may still wait; a server that waits for its client is not late.
func (c *call) left(limit time.Duration) time.Duration {
	if c.asking.Load() > 0 {
		return limit
	}
	return limit - (time.Since(c.began) - time.Duration(c.sign.Load()))
}

// calls are those of one connection that wait for their answers.
type calls struct {
	mu     sync.Mutex
	last   int64           // guarded by mu; the newest number
	open   map[int64]*call // guarded by mu
	closed error           // guarded by mu; why no more calls are taken
	left   chan struct{}   // guarded by mu; closed when a call gets its outcome; nil: nobody waits for that

	asking map[kind]struct{} // guarded by mu; kinds of calls of which one had the server ask something
}

// add gives the call its number. It fails when the connection is over.
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

// take removes the call with this id; nil if there is none, because it was answered, given up or never made. Whoever
// takes a call must give it its outcome.
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

// find is take without removing.
func (t *calls) find(id wire.ID) *call {
	n, ok := number(id)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[n]
}

// remove gives up a call; false if somebody else has taken it and its outcome is there or on its way.
func (t *calls) remove(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.open[c.number]
	delete(t.open, c.number)
	t.departed()
	return ok
}

// only is the single call of a caller there is; nil if there are none or several.
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

// callers are the calls that are not our own.
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

// close fails all calls, now and from now on.
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

// number reads one of our ids back. Servers that know no integers may have made 7 into 7.0.
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
