package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// flights are the requests in flight. A client that has the last byte of a response may send its
// next request before we have recorded this one. The next request then finds it here, and no
// response waits for the recording.
type flights struct {
	mu    sync.Mutex // guards the field below
	byKey map[string]*flight
}

// flight is a request in flight.
type flight struct {
	key    string
	ending atomic.Bool   // the client may have the whole response
	landed chan struct{} // closed when final is set
	final  *chat.Record  // with the provider's counts; nil: it cost nothing

	mu       sync.Mutex   // guards the fields below
	plan     bookkeeper   // of the sent request; nil: it has landed and its bytes are gone
	estimate *chat.Record // of its cost; nil: not computed yet
}

// bookkeeper is a [chat.Plan]. Computing its record takes a while.
type bookkeeper interface {
	Record(usage *bill.Usage) chat.Record
}

// expected returns what the request sent and may have cost; nil: it has landed.
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

// landingTime limits how long a request waits for the recording of the one before. After that the
// recording is given up too.
const landingTime = settleTime

// start registers a request. If several have one key, find returns the last.
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
	one.mu.Lock() // a concurrent estimate reads the request's bytes
	one.plan = nil
	one.mu.Unlock()
	one.final = final
	close(one.landed)
}

// has reports whether a request is in flight.
func (f *flights) has(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKey[key] != nil
}

// find returns the record of a request in flight.
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
