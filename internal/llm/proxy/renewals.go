package proxy

import (
	"sync"
	"time"

	"secateur/internal/llm/chat"
)

// renewals remembers which originals were stored recently. A long conversation thus need not store
// all of them again with every request.
type renewals struct {
	mu  sync.Mutex // guards the field below
	ids map[string]time.Time
}

const (
	maxRenewals = 1 << 16
	renewShare  = 4 // an original is stored again after this fraction of its TTL
)

// due returns the cuts whose originals must be stored.
func (r *renewals) due(cuts []chat.Cut, ttl time.Duration) (due []chat.Cut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, cut := range cuts {
		if at, ok := r.ids[cut.ID]; !ok || now.Sub(at) >= ttl/renewShare {
			due = append(due, cut)
		}
	}
	return due
}

func (r *renewals) note(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil || len(r.ids) >= maxRenewals {
		r.ids = map[string]time.Time{}
	}
	r.ids[id] = time.Now()
}
