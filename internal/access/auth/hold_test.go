package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
)

// A hold behaves like a context of context.WithCancel, whether or not Done was called before it
// ended.
func TestAHoldIsAContextLikeAnyOther(t *testing.T) {
	for _, c := range []struct {
		rule string
		end  func(h *hold, parent context.CancelFunc)
	}{
		{"what was shown is good no more", func(h *hold, _ context.CancelFunc) { h.in.end(func(owner) bool { return false }) }},
		{"the work is over", func(h *hold, _ context.CancelFunc) { h.release() }},
		{"its caller has gone", func(_ *hold, parent context.CancelFunc) { parent() }},
		{"what was shown expires", func(*hold, context.CancelFunc) { time.Sleep(time.Minute) }},
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				type key struct{}
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, 1))
				defer cancel()
				a := Authenticator{held: &held{}}
				ctx, release := a.Hold(parent, &access.Principal{Expires: time.Now().Add(time.Minute).Unix()}, nil)
				defer release()
				var child context.Context
				told := make(chan struct{})
				if waits {
					var stop context.CancelFunc
					child, stop = context.WithCancel(ctx)
					defer stop()
					context.AfterFunc(ctx, func() { close(told) })
				}
				if ctx.Err() != nil || context.Cause(ctx) != nil || ctx.Value(key{}) != 1 {
					t.Errorf("%s: it begins with %v, %v, value %v", c.rule, ctx.Err(), context.Cause(ctx), ctx.Value(key{}))
				}
				c.end(ctx.(*hold), cancel)
				synctest.Wait()
				if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), context.Canceled) {
					t.Errorf("%s, waited for %v: it ends with %v, %v", c.rule, waits, ctx.Err(), context.Cause(ctx))
				}
				<-ctx.Done()
				if waits {
					<-child.Done()
					<-told
				}
				late, stop := context.WithCancel(ctx)
				defer stop()
				<-late.Done()
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Errorf("%s: in the end %v", c.rule, ctx.Err())
				}
			})
		}
	}
}

// The channel is only created when someone calls Done.
func TestWorkThatNobodyWaitsForHasNoChannel(t *testing.T) {
	a := Authenticator{held: &held{}}
	p := &access.Principal{}
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	if n := testing.AllocsPerRun(100, func() {
		ctx, release := a.Hold(parent, p, nil)
		_ = ctx.Err()
		release()
	}); n > 2 {
		t.Errorf("%v allocations for work that nobody waits for, want 2", n)
	}
}
