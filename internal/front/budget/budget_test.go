package budget_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"secateur/internal/access"
	"secateur/internal/front/budget"
)

const mb = 1 << 20

func caller(name string) access.Holder { return access.Holder{Principal: name} }

// open begins a request that must be accepted.
func open(t *testing.T, b *budget.Budget, principal string) *budget.Hold {
	t.Helper()
	h, err := b.Open(caller(principal))
	if err != nil {
		t.Fatalf("Open(%s): %v", principal, err)
	}
	return h
}

func TestBytesInFlightAreBounded(t *testing.T) {
	b := budget.New(100*mb, nil)
	one, two, three := open(t, b, "a"), open(t, b, "b"), open(t, b, "c")
	if err := one.Grow(70 * mb); err != nil {
		t.Fatalf("70 of 100 MB: %v", err)
	}
	if err := one.Grow(10 * mb); !errors.Is(err, budget.ErrFull) {
		t.Errorf("80 of 100 MB for one principal: %v, want its share to end at 75", err)
	}
	if err := two.Grow(22 * mb); err != nil {
		t.Errorf("the share of another: %v", err)
	}
	if err := two.Grow(mb); !errors.Is(err, budget.ErrFull) {
		t.Errorf("93 of 100 MB for two principals: %v, want something left for the next", err)
	}
	if err := three.Grow(5 * mb); err != nil {
		t.Errorf("the share of a third: %v", err)
	}
	last := open(t, b, "d")
	if err := last.Grow(10 * mb); !errors.Is(err, budget.ErrFull) {
		t.Errorf("107 of 100 MB: %v, want ErrFull", err)
	}
	one.Close()
	one.Close()
	if err := two.Grow(40 * mb); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
	if err := one.Grow(1000 * mb); err != nil {
		t.Errorf("what comes after a request's end: %v, want it uncounted", err)
	}
	two.Close()
	three.Close()
	last.Close()
	if n := b.InFlight(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

func TestRequestsCountThemselves(t *testing.T) {
	b := budget.New(mb, nil)
	n := 0
	for ; n < 1000; n++ {
		if _, err := b.Open(caller("a")); err != nil {
			break
		}
	}
	if n < 10 || n > 64 {
		t.Errorf("%d requests that send nothing in a budget of 1 MB, want a few dozen", n)
	}
}

func TestWhatLivesBesideTakesRoom(t *testing.T) {
	beside := int64(0)
	b := budget.New(100*mb, func() int64 { return beside })
	for stored, want := range map[int64]int64{0: 100 * mb, 300 * mb: 100 * mb, 350 * mb: 50 * mb, 900 * mb: 100 * mb / 8} {
		beside = stored
		if got := b.Limit(); got != want {
			t.Errorf("with %d bytes beside, %d may be in flight, want %d", stored, got, want)
		}
	}
}

func TestAReaderStopsWhereTheBudgetEnds(t *testing.T) {
	b := budget.New(mb, nil)
	h := open(t, b, "a")
	n, err := io.Copy(io.Discard, h.Reader(strings.NewReader(strings.Repeat("x", 2*mb))))
	if !errors.Is(err, budget.ErrFull) || n > mb {
		t.Errorf("read %d bytes, %v, want ErrFull within the budget", n, err)
	}
}

func TestNoBudgetRefusesNothing(t *testing.T) {
	b := budget.New(0, nil)
	h := open(t, b, "a")
	if err := h.Grow(1 << 50); err != nil || b.InFlight() != 0 || b.Limit() != 0 {
		t.Errorf("no budget: %v, %d of %d", err, b.InFlight(), b.Limit())
	}
	h.Close()
	if budget.From(budget.With(t.Context(), h)) != nil {
		t.Error("a hold where there is no budget")
	}
}

func TestManyAtOnce(t *testing.T) {
	b := budget.New(64*mb, nil)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for range 100 {
				h, err := b.Open(caller(string(rune('a' + i%4))))
				if err != nil {
					continue
				}
				_ = h.Grow(mb)
				h.Close()
			}
		})
	}
	all.Wait()
	if n := b.InFlight(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}
