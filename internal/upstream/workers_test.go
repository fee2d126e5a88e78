package upstream

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestWorkersDoEveryJobTheyTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w workers
		var done, taken atomic.Int64
		for range 3 { // more at once than may wait, then with those that wait
			hold := make(chan struct{})
			for range 2 * maxWaiting {
				if w.run(func() { <-hold; done.Add(1) }) {
					taken.Add(1)
				}
			}
			close(hold)
			synctest.Wait()
			if done.Load() != taken.Load() || w.waiting != maxWaiting {
				t.Fatalf("%d of %d jobs are done and %d workers wait, want all and %d", done.Load(), taken.Load(), w.waiting, maxWaiting)
			}
		}
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for w.run(func() { done.Add(1) }) {
					taken.Add(1)
				}
			})
		}
		w.close()
		callers.Wait()
		w.close()
		if done.Load() != taken.Load() || w.run(func() { t.Error("a job after close") }) {
			t.Errorf("%d of %d jobs were done before close returned", done.Load(), taken.Load())
		}
	})
}
