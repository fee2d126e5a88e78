package rpc_test

import (
	"context"
	"errors"
	"testing"

	"secateur/internal/rpc"
)

func TestInFlight(t *testing.T) {
	why := errors.New("changed its mind")
	var f rpc.InFlight
	first, endFirst := f.Begin(t.Context(), rpc.NumberID(1))
	if f.Cancel(rpc.NumberID(2), why) || f.Cancel(rpc.ID{}, why) {
		t.Error("an id that no request has cancels something")
	}
	second, endSecond := f.Begin(t.Context(), rpc.NumberID(1))
	if f.Cancel(rpc.NumberID(1), why) || first.Err() != nil || second.Err() != nil {
		t.Error("one of two requests with one id is cancelled")
	}
	endFirst()
	if !f.Cancel(rpc.NumberID(1), why) || !errors.Is(context.Cause(second), why) {
		t.Errorf("the only request of its id: cause %v", context.Cause(second))
	}
	endSecond()
	endSecond() // twice is once
	if f.Cancel(rpc.NumberID(1), why) {
		t.Error("a request that is over is cancelled")
	}
	third, endThird := f.Begin(t.Context(), rpc.StringID("a"))
	defer endThird()
	f.Close()
	fourth, endFourth := f.Begin(t.Context(), rpc.StringID("b"))
	defer endFourth()
	if third.Err() == nil || fourth.Err() == nil {
		t.Error("requests live on after Close")
	}
}
