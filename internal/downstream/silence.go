package downstream

import (
	"sync"
	"time"
)

// silences are the responses that still wait for their answer, in the order in which their silence will have lasted too long: one
// timer is enough for all of them, and most are answered long before it fires.
type silences struct {
	after time.Duration // all wait as long

	mu    sync.Mutex
	first *silence    // guarded by mu, like all below
	last  *silence    //
	timer *time.Timer // nil: nobody has waited yet
	armed bool        // the timer will fire
}

// silence is one response that waits.
type silence struct {
	in         *silences // nil: it does not wait
	of         *postResponse
	due        time.Time
	prev, next *silence
}

// add begins to wait.
func (l *silences) add(x *postResponse) {
	s := &x.silence
	l.mu.Lock()
	defer l.mu.Unlock()
	s.in, s.of, s.due = l, x, time.Now().Add(l.after)
	if s.prev = l.last; s.prev == nil {
		l.first = s
	} else {
		s.prev.next = s
	}
	l.last = s
	if l.armed {
		return
	}
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(l.after, l.pass)
	} else {
		l.timer.Reset(l.after)
	}
}

// end says that it waits no more. It may be breaking already.
func (s *silence) end() {
	if l := s.in; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.remove(s)
	}
}

// remove takes it out of the list, unless it is. With the lock.
func (l *silences) remove(s *silence) {
	switch {
	case s.prev != nil:
		s.prev.next = s.next
	case l.first == s:
		l.first = s.next
	default:
		return
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		l.last = s.prev
	}
	s.prev, s.next = nil, nil
}

// pass breaks the silences that have lasted too long.
func (l *silences) pass() {
	l.mu.Lock()
	now := time.Now()
	var broken []*postResponse
	for l.first != nil && !now.Before(l.first.due) {
		broken = append(broken, l.first.of)
		l.remove(l.first)
	}
	if l.armed = l.first != nil; l.armed {
		l.timer.Reset(l.first.due.Sub(now))
	}
	l.mu.Unlock()
	for _, x := range broken {
		x.breakSilence()
	}
}
