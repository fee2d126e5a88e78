package limit

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// lookAgain is the average retry interval of the first call in the queue for a shared slot. Another
// replica may have released one.
const lookAgain = 50 * time.Millisecond

// enterShared takes a slot of a shared limit, and waits for one if this replica's queue has room.
// Only the first call in the queue asks the store.
func (l *Limits) enterShared(ctx context.Context, lim *limit, c Call) (slot, *Refusal) {
	l.mu.Lock()
	b := lim.bucket(c, time.Now())
	first := len(b.waiting) == 0
	l.mu.Unlock()
	if first {
		if taken, ok := l.tryShared(ctx, lim, c, b); ok {
			return taken, nil
		}
	}
	turn, ok := l.queue(lim, b)
	if !ok {
		return slot{}, lim.busy()
	}
	defer l.dequeue(b, turn)
	patience := time.NewTimer(lim.QueueWait)
	defer patience.Stop()
	for {
		look := time.NewTimer(lookAgain/2 + rand.N(lookAgain)) //nolint:gosec // jitter
		select {
		case <-turn:
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return slot{}, lim.busy()
		case <-patience.C:
			look.Stop()
			return slot{}, lim.busy()
		}
		look.Stop()
		if !l.isFirst(b, turn) {
			continue
		}
		if taken, ok := l.tryShared(ctx, lim, c, b); ok {
			return taken, nil
		}
	}
}

// tryShared asks the store for a slot. If the store is unreachable, this replica has its part of
// the slots, including those it already holds.
func (l *Limits) tryShared(ctx context.Context, lim *limit, c Call, b *bucket) (slot, bool) {
	asked, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	leave, err := l.store.Enter(asked, lim.ask(c).Bucket, lim.Concurrent)
	if err == nil && leave == nil {
		return slot{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && b.running >= lim.slotsAlone() {
		return slot{}, false
	}
	b.running++
	taken := slot{bucket: b, shared: true}
	if leave != nil {
		taken.leave = func() {
			// the client may be gone; keep the call's trace
			ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.wait)
			defer cancel()
			leave(ended)
		}
	}
	return taken, true
}

// slotsAlone returns the number of concurrent calls per replica while the store is unreachable; 0:
// none.
func (l *limit) slotsAlone() int {
	if l.WithoutStore <= 0 {
		return 0
	}
	return max(1, int(float64(l.Concurrent)*l.WithoutStore))
}

// queue joins the queue if there is room.
func (l *Limits) queue(lim *limit, b *bucket) (turn chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b.waiting) >= lim.Queue {
		return nil, false
	}
	turn = make(chan struct{}, 1)
	b.waiting = append(b.waiting, turn)
	return turn, true
}

// dequeue leaves the queue and wakes the next call in it.
func (l *Limits) dequeue(b *bucket, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(b.waiting, turn); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	b.callNext()
}

func (l *Limits) isFirst(b *bucket, turn chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(b.waiting) > 0 && b.waiting[0] == turn
}

// callNext wakes the first call in the queue for a shared slot.
func (b *bucket) callNext() {
	if len(b.waiting) == 0 {
		return
	}
	select {
	case b.waiting[0] <- struct{}{}:
	default: // already woken
	}
}
