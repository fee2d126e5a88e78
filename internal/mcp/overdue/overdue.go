package overdue

import (
	"sync"
	"time"
)

// Queue holds what lasts, in the order in which it will have lasted too long. Its methods and those of its entries may be
// used by many goroutines. After and Late are set before the first entry is added.
type Queue[T any] struct {
	After time.Duration // how long is too long
	Late  func(T)       // is told; in a goroutine of its own, of one after the other

	mu    sync.Mutex
	first *Entry[T]   // guarded by mu, like all below
	last  *Entry[T]   //
	timer *time.Timer // nil: there was no entry yet
	armed bool        // the timer will fire
}

// Entry is one thing that lasts. The zero value lasts no longer.
type Entry[T any] struct {
	in         *Queue[T] // nil: it was never added
	of         T
	due        time.Time
	prev, next *Entry[T]
}

// Add begins to count.
func (q *Queue[T]) Add(e *Entry[T], of T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e.in, e.of, e.due = q, of, time.Now().Add(q.After)
	if e.prev = q.last; e.prev == nil {
		q.first = e
	} else {
		e.prev.next = e
	}
	q.last = e
	if q.armed {
		return
	}
	q.armed = true
	if q.timer == nil {
		q.timer = time.AfterFunc(q.After, q.pass)
	} else {
		q.timer.Reset(q.After)
	}
}

// End says that it is over. Late may be hearing of it already.
func (e *Entry[T]) End() {
	if q := e.in; q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.remove(e)
	}
}

// remove takes an entry out, unless it is. With the lock.
func (q *Queue[T]) remove(e *Entry[T]) {
	switch {
	case e.prev != nil:
		e.prev.next = e.next
	case q.first == e:
		q.first = e.next
	default:
		return
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		q.last = e.prev
	}
	e.prev, e.next = nil, nil
}

// pass tells of what has lasted too long.
func (q *Queue[T]) pass() {
	q.mu.Lock()
	now := time.Now()
	var late []T
	for q.first != nil && !now.Before(q.first.due) {
		late = append(late, q.first.of)
		q.remove(q.first)
	}
	if q.armed = q.first != nil; q.armed {
		q.timer.Reset(q.first.due.Sub(now))
	}
	q.mu.Unlock()
	for _, of := range late {
		q.Late(of)
	}
}
