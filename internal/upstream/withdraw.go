package upstream

import (
	"sync"

	"secateur/internal/rpc"
)

// questions are the server's requests that have no answer yet, so that it can take one back.
type questions struct {
	mu   sync.Mutex
	open map[string]chan struct{} // guarded by mu; by the request's id; closed when it is taken back
}

// add notes a request. The channel is closed if the server takes it back.
func (q *questions) add(id rpc.ID) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = map[string]chan struct{}{}
	}
	back := make(chan struct{})
	q.open[id.Key()] = back
	return back
}

// drop forgets a request that is answered. One that the server asked anew under the same id stays.
func (q *questions) drop(id rpc.ID, back chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[id.Key()] == back {
		delete(q.open, id.Key())
	}
}

// takeBack ends a request that the server does not want answered any more; false if there is none of that id.
func (q *questions) takeBack(id rpc.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	back := q.open[id.Key()]
	if id.IsZero() || back == nil {
		return false
	}
	delete(q.open, id.Key())
	close(back)
	return true
}
