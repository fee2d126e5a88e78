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
