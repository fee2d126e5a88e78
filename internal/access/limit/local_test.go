package limit_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access/limit"
)

func TestAMinuteHoldsSoManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.PerMinute(60)
		for i := range 60 {
			if _, ok := l.Allow("a"); !ok {
				t.Fatalf("call %d of 60 refused", i+1)
			}
		}
		wait, ok := l.Allow("a")
		if ok || wait <= 0 || wait > time.Second {
			t.Fatalf("call 61: Allow = %v, %v, want a refusal for up to a second", wait, ok)
		}
		if _, ok := l.Allow("b"); !ok {
			t.Error("another principal is refused too")
		}
		time.Sleep(wait)
		if _, ok := l.Allow("a"); !ok {
			t.Error("refused after the wait that was asked for")
		}
		if _, ok := l.Allow("a"); ok {
			t.Error("the wait bought more than one call")
		}
		time.Sleep(time.Hour)
		allowed := 0
		for range 100 {
			if _, ok := l.Allow("a"); ok {
				allowed++
			}
		}
		if allowed != 60 {
			t.Errorf("after a long rest %d calls are allowed at once, want 60", allowed)
		}
	})
}

func TestNoLimit(t *testing.T) {
	if l := limit.PerMinute(0); l != nil {
		t.Error("PerMinute(0) is not nil")
	}
	var none *limit.Local
	if _, ok := none.Allow("a"); !ok {
		t.Error("nil refuses")
	}
}

func TestOldPrincipalsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.PerMinute(1)
		for i := range 10_000 {
			l.Allow(strconv.Itoa(i))
		}
		time.Sleep(2 * time.Minute)
		l.Allow("new")
		if n := l.Remembered(); n != 1 {
			t.Errorf("%d principals are remembered, want 1", n)
		}
	})
}
