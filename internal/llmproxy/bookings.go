package llmproxy

import (
	"sync"
	"time"
)

// bookings are those that were put off for a moment. What an answered request came to can take as long to make up as the request took to pass: the client has
// its answer, and the connection is its to use, before that begins.
type bookings struct {
	mu      sync.Mutex // guards the field below
	pending map[*booking]struct{}
}

// booking is one that has not been done yet.
type booking struct {
	do    func()
	timer *time.Timer
	done  chan struct{} // closed when it has been
}

const (
	// breather is how long a booking is put off: what the answer has woken gets a processor first.
	breather = time.Millisecond
	// maxPutOff is how many of them may wait: each holds a request's bytes.
	maxPutOff = 16
)

// putOff has something done a little later; nil: too much waits already, it is the caller's to do. It must not panic.
func (b *bookings) putOff(do func()) *booking {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) >= maxPutOff {
		return nil
	}
	if b.pending == nil {
		b.pending = map[*booking]struct{}{}
	}
	one := &booking{done: make(chan struct{})}
	one.do = func() {
		defer close(one.done)
		do()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.pending, one)
	}
	b.pending[one] = struct{}{}
	one.timer = time.AfterFunc(breather, one.do)
	return one
}

// finish returns when it is done, which it does itself where nobody has begun.
func (one *booking) finish() {
	if one.timer.Stop() {
		one.do()
	}
	<-one.done
}

// finish returns when nothing waits that did when it was called.
func (b *bookings) finish() {
	b.mu.Lock()
	pending := make([]*booking, 0, len(b.pending))
	for one := range b.pending {
		pending = append(pending, one)
	}
	b.mu.Unlock()
	for _, one := range pending {
		one.finish()
	}
}
