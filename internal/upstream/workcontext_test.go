package upstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"secateur/internal/rpc"
)

// A work context is to package context what one of context.WithCancel is: what is derived from it ends with it, and starts no goroutine
// for that.
func TestWorkContextIsAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		outer, cancelOuter := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		c := newCall(rpc.ID{}, rpc.ID{}, nil)
		ctx := c.beginWork(outer)
		if ctx.Value(key{}) != "value" {
			t.Error("it has not the values of the caller's")
		}
		cancelOuter()
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		told, stopped := false, false
		context.AfterFunc(ctx, func() { told = true })
		stop := afterEnd(ctx, func() { stopped = true })
		last := afterEnd(ctx, func() {})
		if !stop() || stop() {
			t.Error("a function was not taken back once")
		}
		synctest.Wait()
		select {
		case <-ctx.Done():
			t.Error("it has ended with the caller's")
		default:
		}
		if ctx.Err() != nil || derived.Err() != nil || told {
			t.Error("it has ended with the caller's")
		}
		c.leave()
		synctest.Wait()
		<-ctx.Done()
		<-derived.Done()
		if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(derived), context.Canceled) || !told || stopped || last() {
			t.Errorf("after its end: %v, %v, told %v, told what was taken back %v", ctx.Err(), derived.Err(), told, stopped)
		}
		late := false
		afterEnd(ctx, func() { late = true })
		c.endWork()
		synctest.Wait()
		if !late {
			t.Error("who asks after the end is not told")
		}
	})
}

// What is begun for a call that nobody waits for any more has ended.
func TestWorkOfACallThatIsLeftHasEnded(t *testing.T) {
	c := newCall(rpc.ID{}, rpc.ID{}, nil)
	c.leave()
	if err := c.beginWork(t.Context()).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("its context has %v", err)
	}
}
