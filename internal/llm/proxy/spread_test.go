package proxy

import (
	"sync/atomic"
	"testing"
)

func TestSpreadDoesEachOnce(t *testing.T) {
	for _, goroutines := range []int{0, 1, 2, 7} {
		var done [100]atomic.Int32
		spreadOver(goroutines, len(done), func(i int) { done[i].Add(1) })
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d goroutines did %d %d times", goroutines, i, n)
			}
		}
	}
}

func TestSpreadPanicsWhereItsCallerCanRecover(t *testing.T) {
	for _, goroutines := range []int{1, 4} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d goroutines: a panic was lost", goroutines)
				}
			}()
			spreadOver(goroutines, 50, func(int) { panic("no") })
		}()
	}
}
