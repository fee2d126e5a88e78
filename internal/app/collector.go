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

// collector tunes Go's garbage collector (GOGC) to what lives in the heap and to what the program does. By itself the heap grows to
// twice that before it is collected: a full store of originals in memory would take its size a second time for nothing, since its
// texts neither die nor hold pointers; and a program that holds a few megabytes, as most do, would be collected every few
// hundred calls. Here it grows by the size of what lives beside the store, and while the program is busy by tens of megabytes
// however little that is. When it comes to rest, the memory goes back to the system.
type collector struct {
	stored func() int64 // bytes of originals in the heap
	most   int64        // see busyGarbage

	heap    func() heapState
	percent func(int) // sets it
	free    func()    // collects, and gives back what is free

	mu      sync.Mutex  // guards what follows; held while memory is given back
	stopped bool        // nothing is done any more
	set     int         // the percentage, as last set
	looked  int64       // what had been allocated in all at the last look
	look    *time.Timer // looks whether the program has come to rest; nil: there was nothing to look for yet
}

// heapState is what is to be known of the heap.
type heapState struct {
	live      int64 // bytes that the last collection left
	allocated int64 // bytes since the start of the program
}

// defaultGC is the runtime's own GOGC.
const defaultGC = 100

const (
	// restGarbage is how much may die between two collections while the program rests, however little lives.
	restGarbage = 4 << 20
	// mostGarbage is how much while it is busy, and maxGarbageShare the part of the memory that this may take.
	mostGarbage, maxGarbageShare = 32 << 20, 8
	// storeGarbage is how much where the store holds eight times as much.
	storeGarbage = 24 << 20
	// restsAfter is how long next to nothing is allocated in a program that rests.
	restsAfter = 2 * time.Second
)

// tuneCollector begins to tune it, until the returned function is called. An operator who has set the collector himself is
// left to it.
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

// stop returns when what is being done is done, and nothing more will be.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.look != nil {
		c.look.Stop()
	}
	c.percent(defaultGC)
}

// heapOfStore is how much of the heap are originals.
func (a *App) heapOfStore() int64 {
	if s := a.store.Stats(); s.Kind == originals.KindMemory {
		return s.Bytes
	}
	return 0
}

// awaitCollection has the next collection followed by collected: it finds an object that nobody holds.
func (c *collector) awaitCollection() {
	type sentinel struct{ _ *byte } // with a pointer, so that it shares its memory with nothing
	runtime.AddCleanup(new(sentinel), func(c *collector) {
		if c.collected() {
			c.awaitCollection()
		}
	}, c)
}

// collected is called after a collection: the program is busy, unless the collection was one that comes by itself every two
// minutes, or our own. It returns false where nobody wants to know any more.
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

// lookForRest gives memory back if the program has come to rest, and else looks again.
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

// tune sets the percentage where it has changed by much: setting it stops the world for a moment.
func (c *collector) tune(now heapState, garbage int64) {
	percent := gcPercent(now.live, c.stored(), garbage)
	if abs := max(percent-c.set, c.set-percent); abs*8 > c.set {
		c.percent(percent)
		c.set = percent
	}
}

// gcPercent is how much garbage there may be over what lives, in percent of that: as much as lives beside the store, and
// never less than a given size, or than where the store is large. A heap of less than a megabyte is taken for one.
func gcPercent(live, stored, least int64) int {
	garbage := max(live-stored, least, min(stored/8, storeGarbage))
	return int(max(1, defaultGC*garbage/max(live, 1<<20)))
}

// busyGarbage is how much may die between two collections of a busy program in so much memory; 0: it is not known how much.
func busyGarbage(memory int64) int64 {
	if memory <= 0 {
		return mostGarbage
	}
	return min(max(memory/maxGarbageShare, restGarbage), mostGarbage)
}

func readHeap() heapState {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return heapState{int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())} //nolint:gosec // no heap was ever larger than that
}
