package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/store/originals"
)

// collector tunes Go's garbage collector (GOGC) to the live heap and to the program's activity. By
// default the heap doubles before a collection. A full store of originals in memory would then
// waste its own size again. Its texts neither die nor hold pointers. A program that holds a few
// megabytes, as most do, would collect every few hundred calls. With the collector, the heap grows
// by the live size beside the store. While the program is busy, it may grow by tens of megabytes.
// When the program becomes idle, the memory goes back to the system.
type collector struct {
	stored func() int64 // bytes of originals in the heap
	most   int64        // see busyGarbage

	heap    func() heapState
	percent func(int) // sets GOGC
	free    func()    // collects and returns free memory to the system

	mu      sync.Mutex  // guards the fields below; held while memory is returned
	stopped bool        // no further work
	set     int         // last value of GOGC
	looked  int64       // total allocation at the last check
	look    *time.Timer // checks whether the program is idle; nil: not needed yet
}

// heapState is the state of the heap.
type heapState struct {
	live      int64 // bytes left by the last collection
	allocated int64 // bytes allocated since the program started
}

// defaultGC is the runtime's default GOGC.
const defaultGC = 100

const (
	// restGarbage is the least garbage between two collections while the program is idle.
	restGarbage = 4 << 20
	// mostGarbage is the same while it is busy. It may take at most 1/maxGarbageShare of the
	// memory.
	mostGarbage, maxGarbageShare = 32 << 20, 8
	// storeGarbage is the least garbage with a store of eight times that size or more.
	storeGarbage = 24 << 20
	// restsAfter is how long almost nothing is allocated before the program counts as idle.
	restsAfter = 2 * time.Second
)

// tuneCollector starts the tuning and returns a function that stops it. It does nothing if the
// operator has set GOGC or GOMEMLIMIT.
func (a *App) tuneCollector() (stop func()) {
	isSet := func(entry string) bool {
		return strings.HasPrefix(entry, "GOGC=") || strings.HasPrefix(entry, "GOMEMLIMIT=")
	}
	if slices.ContainsFunc(a.opt.Environ, isSet) {
		return func() {}
	}
	c := &collector{
		stored: a.heapOfStore, most: busyGarbage(budget.Memory()), set: defaultGC,
		heap: readHeap, percent: func(n int) { debug.SetGCPercent(n) }, free: debug.FreeOSMemory,
	}
	c.awaitCollection()
	return c.stop
}

// stop waits for the work in progress and prevents any more.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.look != nil {
		c.look.Stop()
	}
	c.percent(defaultGC)
}

// heapOfStore returns how many bytes of the heap are originals.
func (a *App) heapOfStore() int64 {
	if s := a.store.Stats(); s.Kind == originals.KindMemory {
		return s.Bytes
	}
	return 0
}

// awaitCollection calls collected after the next collection, through a cleanup on an unreachable
// object.
func (c *collector) awaitCollection() {
	type sentinel struct{ _ *byte } // a pointer keeps it out of shared allocations
	runtime.AddCleanup(new(sentinel), func(c *collector) {
		if c.collected() {
			c.awaitCollection()
		}
	}, c)
}

// collected is called after a collection. The program is then busy, unless the collection was ours
// or the periodic one every two minutes. It returns false once stopped.
func (c *collector) collected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	now := c.heap()
	if !c.isBusy(now) {
		return true
	}
	c.tune(now, c.most)
	if c.look == nil {
		c.look = time.AfterFunc(restsAfter, c.lookForRest)
	} else {
		c.look.Reset(restsAfter)
	}
	return true
}

// lookForRest returns memory to the system if the program is idle; otherwise it checks again later.
func (c *collector) lookForRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	now := c.heap()
	if c.isBusy(now) {
		c.look.Reset(restsAfter)
		return
	}
	c.tune(now, restGarbage)
	c.free()
}

// isBusy reports whether much was allocated since the program was last seen busy.
func (c *collector) isBusy(now heapState) bool {
	if now.allocated-c.looked < restGarbage/2 {
		return false
	}
	c.looked = now.allocated
	return true
}

// tune sets GOGC if it would change by much: setting it stops the world for a moment.
func (c *collector) tune(now heapState, garbage int64) {
	percent := gcPercent(now.live, c.stored(), garbage)
	if abs := max(percent-c.set, c.set-percent); abs*8 > c.set {
		c.percent(percent)
		c.set = percent
	}
}

// gcPercent returns GOGC: the allowed garbage in percent of the live heap. The garbage may equal
// the live heap beside the store. It is at least the given size, or more with a large store. A heap
// below one megabyte counts as one megabyte.
func gcPercent(live, stored, least int64) int {
	garbage := max(live-stored, least, min(stored/8, storeGarbage))
	return int(max(1, defaultGC*garbage/max(live, 1<<20)))
}

// busyGarbage returns the garbage allowed between two collections of a busy program; memory 0:
// unknown.
func busyGarbage(memory int64) int64 {
	if memory <= 0 {
		return mostGarbage
	}
	return min(max(memory/maxGarbageShare, restGarbage), mostGarbage)
}

func readHeap() heapState {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return heapState{int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())} //nolint:gosec // no heap is that large
}
