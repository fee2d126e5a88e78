package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"

	"secateur/internal/originals"
)

// collector tunes Go's garbage collector (GOGC) to what lives in the heap. By itself the heap grows to twice that before
// it is collected: a full store of originals in memory would take its size a second time for nothing, since its texts neither
// die nor hold pointers; and a program that holds a few megabytes, as most do, would be collected every few hundred calls. Here
// it grows by the size of what lives beside the store, and by a few megabytes however little that is.
type collector struct {
	stored  func() int64 // bytes of originals in the heap
	percent int          // as last set; touched by one cleanup at a time
	stopped atomic.Bool
}

// defaultGC is the runtime's own GOGC.
const defaultGC = 100

// leastGarbage is how much may die between two collections however little lives, and moreGarbage how much more where the store holds eight times as much.
const leastGarbage, moreGarbage = 8 << 20, 16 << 20

// tuneCollector begins to tune it, until the returned function is called. An operator who has set the collector himself is
// left to it.
func (a *App) tuneCollector() (stop func()) {
	isSet := func(entry string) bool {
		return strings.HasPrefix(entry, "GOGC=") || strings.HasPrefix(entry, "GOMEMLIMIT=")
	}
	if slices.ContainsFunc(a.opt.Environ, isSet) {
		return func() {}
	}
	c := &collector{stored: a.heapOfStore, percent: defaultGC}
	c.awaitCollection()
	return func() {
		c.stopped.Store(true)
		debug.SetGCPercent(defaultGC)
	}
}

// heapOfStore is how much of the heap are originals.
func (a *App) heapOfStore() int64 {
	if s := a.store.Stats(); s.Kind == originals.KindMemory {
		return s.Bytes
	}
	return 0
}

// awaitCollection has the next collection followed by a tuning: it finds an object that nobody holds.
func (c *collector) awaitCollection() {
	type sentinel struct{ _ *byte } // with a pointer, so that it shares its memory with nothing
	runtime.AddCleanup(new(sentinel), func(c *collector) {
		if !c.stopped.Load() {
			c.tune()
			c.awaitCollection()
		}
	}, c)
}

// tune sets the percentage where it has changed by much: setting it stops the world for a moment.
func (c *collector) tune() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := gcPercent(int64(live[0].Value.Uint64()), c.stored()) //nolint:gosec // a heap is smaller than that
	if abs := max(percent-c.percent, c.percent-percent); abs*8 > c.percent {
		debug.SetGCPercent(percent)
		c.percent = percent
	}
}

// gcPercent is how much garbage there may be over what lives, in percent of that: as much as lives beside the store, and
// never less than leastGarbage. A heap of less than a megabyte is taken for one.
func gcPercent(live, stored int64) int {
	garbage := max(live-stored, leastGarbage+min(stored/8, moreGarbage))
	return int(max(1, defaultGC*garbage/max(live, 1<<20)))
}
