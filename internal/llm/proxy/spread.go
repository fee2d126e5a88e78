package proxy

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spread calls do for 0 to n-1 in up to shares goroutines, limited by the number of processors. It
// panics if one of them does.
func spread(shares, n int, do func(i int)) { spreadOver(min(shares, runtime.GOMAXPROCS(0)), n, do) }

func spreadOver(goroutines, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	var failed atomic.Pointer[any]
	for range goroutines - 1 {
		others.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					failed.Store(&v)
				}
			}()
			work()
		})
	}
	func() {
		defer others.Wait() // they write through the message: do not read it before they are done
		work()
	}()
	if v := failed.Load(); v != nil {
		panic(*v)
	}
}
