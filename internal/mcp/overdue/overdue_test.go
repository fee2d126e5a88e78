package overdue_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/overdue"
)

// Of many operations that begin and end at different times, exactly the late ones are reported,
// each on time. It works again after the queue has been empty.
func TestTellsOfWhatLastsTooLongInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type told struct {
			name  int
			after time.Duration
		}
		var mu sync.Mutex
		var seen []told
		began := map[int]time.Time{}
		q := overdue.Queue[int]{After: 50 * time.Millisecond, Late: func(name int) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, told{name, time.Since(began[name])})
		}}
		for range 2 {
			var all sync.WaitGroup
			for name, lasts := range []int{10, 300, 5, 60, 20, 200, 49, 51, 1} {
				all.Go(func() {
					time.Sleep(time.Duration(name) * 7 * time.Millisecond)
					mu.Lock()
					began[name] = time.Now()
					mu.Unlock()
					var e overdue.Entry[int]
					q.Add(&e, name)
					time.Sleep(time.Duration(lasts) * time.Millisecond)
					e.End()
					e.End() // a second call is harmless
				})
			}
			all.Wait()
			time.Sleep(time.Second)
			mu.Lock()
			want := []told{{1, q.After}, {3, q.After}, {5, q.After}, {7, q.After}}
			if !slices.Equal(seen, want) {
				t.Errorf("told of %v, want %v", seen, want)
			}
			seen = nil
			mu.Unlock()
		}
	})
}

// An entry that was never added can end.
func TestNothingIsOver(*testing.T) { new(overdue.Entry[int]).End() }
