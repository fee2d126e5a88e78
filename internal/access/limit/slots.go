package limit

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// lookAgain is about how often the first in the queue for a shared slot looks for one: others may have given theirs back.
const lookAgain = 50 * time.Millisecond

// enterShared takes a slot of a shared limit, waiting for one where the queue of this replica has room. Only the first in the queue asks the store.
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
		look := time.NewTimer(lookAgain/2 + rand.N(lookAgain)) //nolint:gosec // so that replicas do not look all at once
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

// tryShared asks the store for a slot. Without it this replica has its part of them, counted with those that it holds already.
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
			ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.wait) // its client may be gone; it is in the call's trace all the same
			defer cancel()
			leave(ended)
		}
	}
	return taken, true
}

// slotsAlone is how many calls at a time a replica may have while the store is away; 0: none.
func (l *limit) slotsAlone() int {
	if l.WithoutStore <= 0 {
		return 0
	}
	return max(1, int(float64(l.Concurrent)*l.WithoutStore))
}

// queue joins the queue, if there is room.
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

// dequeue leaves the queue and has the next in it look.
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

// callNext has the first in the queue for a shared slot look for one now.
func (b *bucket) callNext() {
	if len(b.waiting) == 0 {
		return
	}
	select {
	case b.waiting[0] <- struct{}{}:
	default: // it knows
	}
}
