package app

import (
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

func TestTheStoreIsNotCollectedTwice(t *testing.T) {
	for _, c := range []struct {
		rule                string
		live, stored, least int64
		want                int
	}{
		{"an empty store: as Go does it", 40 * mib, 0, 32 * mib, 100},
		{"a small heap may grow for a while", 4 * mib, 0, 32 * mib, 800},
		{"and less at rest", 4 * mib, 0, 4 * mib, 100},
		{"a full store and little beside it", 270 * mib, 256 * mib, 32 * mib, 11},
		{"the same at rest", 270 * mib, 256 * mib, 4 * mib, 8},
		{"a full store and much beside it", 512 * mib, 256 * mib, 32 * mib, 50},
		{"originals put since the last collection", 100 * mib, 200 * mib, 8 * mib, 24},
		{"nothing lives yet", 0, 0, 8 * mib, 800},
		{"a store of many gigabytes", 64 << 30, 64 << 30, 32 * mib, 1},
	} {
		if got := gcPercent(c.live, c.stored, c.least); got != c.want {
			t.Errorf("%s: gcPercent = %d, want %d", c.rule, got, c.want)
		}
	}
}

func TestGarbageIsAShareOfTheMemory(t *testing.T) {
	for memory, want := range map[int64]int64{0: 32 * mib, 16 << 30: 32 * mib, 128 * mib: 16 * mib, 16 * mib: 4 * mib} {
		if got := busyGarbage(memory); got != want {
			t.Errorf("in %d MiB of memory %d may be garbage, want %d", memory/mib, got, want)
		}
	}
}

// busyProgram simulates a program whose heap a collector tunes. The collector's lock guards its
// fields.
type busyProgram struct {
	*collector
	now         heapState
	told, freed int
}

func newBusyProgram() *busyProgram {
	p := &busyProgram{now: heapState{live: 4 * mib, allocated: 10 * mib}}
	p.collector = &collector{
		stored: func() int64 { return 0 }, most: mostGarbage, set: defaultGC,
		heap: func() heapState { return p.now }, percent: func(n int) { p.told = n }, free: func() { p.freed++ },
	}
	return p
}

func (p *busyProgram) allocate(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.allocated += bytes
}

func (p *busyProgram) is(t *testing.T, when string, percent, freed int) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told != percent || p.freed != freed {
		t.Errorf("%s: %d percent, freed %d times; want %d and %d", when, p.told, p.freed, percent, freed)
	}
}

func TestMemoryIsGivenBackAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBusyProgram()
		p.collected()
		p.is(t, "busy", 800, 0)
		for range 10 {
			p.allocate(5 * mib)
			time.Sleep(restsAfter)
			p.is(t, "too little for a collection, too much for a rest", 800, 0)
		}
		time.Sleep(restsAfter)
		p.is(t, "at rest", 100, 1)
		p.collected() // caused by returning memory
		time.Sleep(2 * time.Minute)
		p.collected() // a periodic one
		time.Sleep(time.Hour)
		p.is(t, "at rest for long", 100, 1)
		p.allocate(4 * mib)
		p.collected()
		p.is(t, "busy again", 800, 1)
		time.Sleep(restsAfter)
		p.is(t, "at rest again", 100, 2)
	})
}

func TestAStoppedCollectorDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newBusyProgram()
		p.collected()
		p.stop()
		p.is(t, "stopped", defaultGC, 0)
		p.allocate(100 * mib)
		if p.collected() {
			t.Error("a stopped collector waits for the next collection")
		}
		time.Sleep(time.Hour)
		p.is(t, "long after", defaultGC, 0)
	})
}
