package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// flights are the requests under way. A client that has the last byte of an answer may send its next request before
// we have written down what this one sent and cost; there the next request finds it all the same, and no answer is
// held up for the writing.
type flights struct {
	mu    sync.Mutex // guards the field below
	byKey map[string]*flight
}

// flight is a request under way.
type flight struct {
	key    string
	ending atomic.Bool   // the client may have its answer whole
	landed chan struct{} // closed when final is set
	final  *chat.Record  // with what the provider has counted; nil: it cost nothing

	mu       sync.Mutex   // guards the fields below
	plan     bookkeeper   // of what it sent; nil: it has landed, and the bytes are gone
	estimate *chat.Record // of what it may have cost; nil: nobody has asked
}

// bookkeeper is a [chat.Plan]: what it says takes a while to make up.
type bookkeeper interface {
	Record(usage *bill.Usage) chat.Record
}

// expected is what the request sent, and may have cost; nil: it has landed.
func (f *flight) expected() *chat.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plan == nil {
		return nil
	}
	if f.estimate == nil {
		r := f.plan.Record(nil)
		f.estimate = &r
	}
	return f.estimate
}

// landingTime bounds how long a request waits for the one before it to be written down: then the writing is given up, too.
const landingTime = settleTime

// start notes a request. Of several with one key the last is found.
func (f *flights) start(key string, plan bookkeeper) *flight {
	one := &flight{key: key, plan: plan, landed: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey == nil {
		f.byKey = map[string]*flight{}
	}
	f.byKey[key] = one
	return one
}

// land ends a flight.
func (f *flights) land(one *flight, final *chat.Record) {
	f.mu.Lock()
	if f.byKey[one.key] == one {
		delete(f.byKey, one.key)
	}
	f.mu.Unlock()
	one.mu.Lock() // whoever makes up an estimate reads the request's bytes
	one.plan = nil
	one.mu.Unlock()
	one.final = final
	close(one.landed)
}

// has tells whether a request is under way.
func (f *flights) has(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKey[key] != nil
}

// find gives the record of a request under way.
func (f *flights) find(ctx context.Context, key string) *chat.Record {
	f.mu.Lock()
	one := f.byKey[key]
	f.mu.Unlock()
	if one == nil {
		return nil
	}
	if !one.ending.Load() {
		if r := one.expected(); r != nil {
			return r
		}
	}
	timeout := time.NewTimer(landingTime)
	defer timeout.Stop()
	select {
	case <-one.landed:
		return one.final
	case <-ctx.Done():
	case <-timeout.C:
	}
	return nil
}
