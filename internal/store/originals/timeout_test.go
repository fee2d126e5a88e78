package originals_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
)

// slow is a store that ignores its context and is slow, like a disk.
type slow struct {
	originals.Memory
	takes time.Duration

	mu     sync.Mutex
	inside int
	most   int
}

func (s *slow) Put(ctx context.Context, tenant, text string) (string, error) {
	s.enter(1)
	defer s.enter(-1)
	time.Sleep(s.takes)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return s.Memory.Put(ctx, tenant, text)
}

func (s *slow) Get(ctx context.Context, tenant, id string) (string, error) {
	time.Sleep(s.takes)
	return s.Memory.Get(ctx, tenant, id)
}

func (s *slow) enter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside += n
	s.most = max(s.most, s.inside)
}

func TestPutIsGivenUpInTime(t *testing.T) {
	const limit = 250 * time.Millisecond
	for _, c := range []struct {
		rule     string
		takes    time.Duration
		deadline time.Duration // of the caller; 0: none
		waited   time.Duration
		want     error
	}{
		{"a fast store answers", 10 * time.Millisecond, 0, 10 * time.Millisecond, nil},
		{"a slow store is given up at the limit", time.Hour, 0, limit, originals.ErrUnavailable},
		{"a caller with less patience waits no longer", time.Hour, time.Millisecond, time.Millisecond, originals.ErrUnavailable},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &slow{takes: c.takes}
				s := originals.WithPutTimeout(inner, limit)
				ctx := t.Context()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				start := time.Now()
				_, err := s.Put(ctx, "", "text")
				if !errors.Is(err, c.want) || time.Since(start) != c.waited {
					t.Errorf("Put: err = %v after %v, want %v after %v", err, time.Since(start), c.want, c.waited)
				}
				refused := int64(0)
				if c.want != nil {
					refused = 1
				}
				if got := s.Stats().Refused; got != refused {
					t.Errorf("Refused = %d, want %d", got, refused)
				}
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if _, err := s.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
					t.Errorf("Put after Close: err = %v, want ErrUnavailable", err)
				}
			})
		})
	}
}

func TestPutThatWasGivenUpStillFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := originals.WithPutTimeout(&slow{takes: time.Second}, 250*time.Millisecond)
		if _, err := s.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
			t.Fatalf("Put: err = %v, want ErrUnavailable", err)
		}
		time.Sleep(time.Second)
		if got, err := s.Get(t.Context(), "", originals.ID("", "text")); err != nil || got != "text" {
			t.Errorf("Get afterwards = %q, %v, want the text", got, err)
		}
		s.Close()
	})
}

func TestWhatIsUnderWayIsBoundedAndWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &slow{takes: time.Hour}
		s := originals.WithPutTimeout(inner, time.Second)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				if _, err := s.Put(t.Context(), "", fmt.Sprint(i)); !errors.Is(err, originals.ErrUnavailable) {
					t.Errorf("Put: err = %v, want ErrUnavailable", err)
				}
			})
		}
		wg.Wait()
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("callers waited %v, want a second", waited)
		}
		s.Close()
		if inner.most > 64 || inner.inside != 0 {
			t.Errorf("%d at most were under way, and %d after Close; want 64 and none", inner.most, inner.inside)
		}
	})
}

func TestGetIsGivenUpWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := originals.WithPutTimeout(&slow{takes: time.Hour}, time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := s.Get(ctx, "", "prn_")
		if !errors.Is(err, originals.ErrUnavailable) || time.Since(start) != time.Minute {
			t.Errorf("Get: err = %v after %v, want ErrUnavailable after a minute", err, time.Since(start))
		}
		s.Close()
	})
}

// A text of many MiB has a longer limit: a disk that is fast enough takes that long.
func TestTheLimitGrowsWithTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{takes: 2 * time.Second}
		timed := originals.WithPutTimeout(store, 250*time.Millisecond)
		for size, want := range map[int]error{1000: originals.ErrUnavailable, 10 << 20: nil} {
			if _, err := timed.Put(t.Context(), "", strings.Repeat("x", size)); !errors.Is(err, want) {
				t.Errorf("a text of %d bytes: %v, want %v", size, err, want)
			}
		}
		if err := timed.Close(); err != nil {
			t.Error(err)
		}
	})
}
