package upstream

import (
	"context"
	"sync/atomic"
	"time"
)

// admission limits the concurrent calls to a server and the calls waiting for a slot.
type admission struct {
	places  chan struct{} // holds a token for each slot in use
	waiting atomic.Int64
	limit   int64 // maximum of waiting
}

func newAdmission(places, waiting int) admission {
	return admission{places: make(chan struct{}, places), limit: int64(waiting)}
}

func (t *admission) taken() int { return len(t.places) }

func (t *admission) leave() { <-t.places }

// enter takes a slot. If none is free, it waits up to the response timeout.
func (u *Upstream) enter(ctx context.Context) error {
	t := &u.admission
	select {
	case t.places <- struct{}{}:
		return nil
	default:
	}
	if t.waiting.Add(1) > t.limit {
		t.waiting.Add(-1)
		return u.errorf(Unavailable, "%d calls are at it and %d more wait", cap(t.places), t.limit)
	}
	defer t.waiting.Add(-1)
	timer := time.NewTimer(u.timeout())
	defer timer.Stop()
	select {
	case t.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return u.errorf(Timeout, "no room within %s: %d calls are at it", u.timeout(), cap(t.places))
	}
}

// drain waits until no calls are left, by taking all slots at once.
func (t *admission) drain() {
	for range cap(t.places) {
		t.places <- struct{}{}
	}
	for range cap(t.places) {
		<-t.places
	}
}
