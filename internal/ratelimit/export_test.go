package ratelimit

import (
	"context"
	"maps"
)

// Remembered is how many principals are held in memory.
func (l *Local) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tat)
}

// Renew renews at once what is held.
func (r *Redis) Renew(ctx context.Context) error {
	r.leases.mu.Lock()
	all := maps.Clone(r.leases.held)
	r.leases.mu.Unlock()
	return r.leases.renew(ctx, all)
}
