package replica

import "sync/atomic"

// Counted is a kind of message between replicas, with its outcome.
type Counted int

// The kinds.
const (
	NewsSent Counted = iota
	NewsReceived
	NewsLost // the queue was full, or the engine unreachable
	EventsSent
	EventsReceived
	EventsLost
	counted
)

// counts counts messages.
type counts [counted]atomic.Uint64

// Count adds n messages to a count.
func (g *Group) Count(what Counted, n uint64) { g.counts[what].Add(n) }

// Counted returns a count; 0 for a single replica.
func (g *Group) Counted(what Counted) uint64 {
	if g == nil {
		return 0
	}
	return g.counts[what].Load()
}
