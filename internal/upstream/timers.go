package upstream

import (
	"sync"
	"time"
)

// timers are those of a connection's calls, each kept for the next one.
type timers struct{ idle sync.Pool }

// timer bounds how long a call waits for its answer. Signs of life renew the time.
type timer struct {
	passed chan struct{} // gets a token when the time is over

	mu    sync.Mutex
	alarm *time.Timer   // guarded by mu
	call  *call         // guarded by mu; nil: nobody's
	limit time.Duration // guarded by mu
}

// start gives a call its timer; with a limit of 0 the time is never over.
func (t *timers) start(c *call, limit time.Duration) *timer {
	m, ok := t.idle.Get().(*timer)
	if !ok {
		m = &timer{passed: make(chan struct{}, 1)}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.call, m.limit = c, limit
	switch {
	case limit == 0:
	case m.alarm == nil:
		m.alarm = time.AfterFunc(limit, m.ring)
	default:
		m.alarm.Reset(limit)
	}
	return m
}

// ring says that the time is over, unless the server has given a sign of life.
func (m *timer) ring() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.call == nil || m.limit == 0 { // it rang for the call before
		return
	}
	if left := m.call.left(m.limit); left > 0 {
		m.alarm.Reset(left)
		return
	}
	select {
	case m.passed <- struct{}{}:
	default:
	}
	m.call.interrupt()
}

// stop takes a timer back.
func (t *timers) stop(m *timer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.call = nil
	if m.alarm != nil {
		m.alarm.Stop()
	}
	select {
	case <-m.passed:
	default:
	}
	t.idle.Put(m)
}
