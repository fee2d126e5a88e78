package replica

import "sync/atomic"

// Counted is a kind of message between replicas, and what became of it.
type Counted int

// What is counted.
const (
	NewsSent Counted = iota
	NewsReceived
	NewsLost // there were too many, or the engine was away
	EventsSent
	EventsReceived
	EventsLost
	counted
)

// counts counts messages.
type counts [counted]atomic.Uint64

// Count adds to what has become of messages.
func (g *Group) Count(what Counted, n uint64) { g.counts[what].Add(n) }

// Counted is how many there were; none of a replica that is alone.
func (g *Group) Counted(what Counted) uint64 {
	if g == nil {
		return 0
	}
	return g.counts[what].Load()
}
