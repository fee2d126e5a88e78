package limit

import (
	"context"
	"fmt"
	"maps"
)

// Remembered returns the number of principals in memory.
func (l *Local) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tat)
}

// Renew renews held leases at once.
func (r *Redis) Renew(ctx context.Context) error {
	r.leases.mu.Lock()
	all := maps.Clone(r.leases.held)
	r.leases.mu.Unlock()
	return r.leases.renew(ctx, all)
}

// Settle releases leftover leases at once.
func (r *Redis) Settle(ctx context.Context) error {
	r.leases.mu.Lock()
	over := copied(r.leases.over)
	r.leases.mu.Unlock()
	r.leases.settle(ctx, over)
	r.leases.mu.Lock()
	defer r.leases.mu.Unlock()
	if len(r.leases.over) > 0 {
		return fmt.Errorf("%d leases are over still", r.leases.overs)
	}
	return nil
}
