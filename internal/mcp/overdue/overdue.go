package overdue

import (
	"sync"
	"time"
)

// Queue holds pending operations in the order of their deadlines. Its methods and those of its
// entries are safe for concurrent use. Set After and Late before the first entry is added.
type Queue[T any] struct {
	After time.Duration // the time limit
	// called for each late operation, in the timer's goroutine; may overlap with the next firing
	Late func(T)

	mu    sync.Mutex
	first *Entry[T] // guarded by mu, like all below
	last  *Entry[T]
	timer *time.Timer // nil: no entry yet
	armed bool        // the timer will fire
}

// Entry is one pending operation. The zero value is not pending.
type Entry[T any] struct {
	in         *Queue[T] // nil: never added
	of         T
	due        time.Time
	prev, next *Entry[T]
}

// Add starts the timeout of an operation.
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

// End marks an operation as finished. Late may already be running for it.
func (e *Entry[T]) End() {
	if q := e.in; q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.remove(e)
	}
}

// remove removes an entry if it is queued. The caller holds mu.
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

// pass reports the late operations.
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
