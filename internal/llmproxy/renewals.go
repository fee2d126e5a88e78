package llmproxy

import (
	"sync"
	"time"
)

// renewals remember which originals were put a short while ago, so that a long conversation does not put all of its
// originals again with every request.
type renewals struct {
	mu  sync.Mutex // guards the field below
	ids map[string]time.Time
}

const (
	maxRenewals = 1 << 16
	renewShare  = 4 // an original is put again after this part of its life
)

func (r *renewals) recently(id string, ttl time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.ids[id]
	return ok && time.Since(at) < ttl/renewShare
}

func (r *renewals) note(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil || len(r.ids) >= maxRenewals {
		r.ids = map[string]time.Time{}
	}
	r.ids[id] = time.Now()
}
