package limit

import (
	"context"
	"fmt"
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

// Settle gives back at once what is over.
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
