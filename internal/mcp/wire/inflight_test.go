package wire_test

import (
	"context"
	"errors"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestInFlight(t *testing.T) {
	why := errors.New("changed its mind")
	var f wire.InFlight
	first, endFirst := f.Begin(t.Context(), wire.NumberID(1))
	if f.Cancel(wire.NumberID(2), why) || f.Cancel(wire.ID{}, why) {
		t.Error("an id that no request has cancels something")
	}
	second, endSecond := f.Begin(t.Context(), wire.NumberID(1))
	if f.Cancel(wire.NumberID(1), why) || first.Err() != nil || second.Err() != nil {
		t.Error("one of two requests with one id is cancelled")
	}
	endFirst()
	if !f.Cancel(wire.NumberID(1), why) || !errors.Is(context.Cause(second), why) {
		t.Errorf("the only request of its id: cause %v", context.Cause(second))
	}
	endSecond()
	endSecond() // the second call does nothing
	if f.Cancel(wire.NumberID(1), why) {
		t.Error("a request that is over is cancelled")
	}
	third, endThird := f.Begin(t.Context(), wire.StringID("a"))
	defer endThird()
	f.Close()
	fourth, endFourth := f.Begin(t.Context(), wire.StringID("b"))
	defer endFourth()
	if third.Err() == nil || fourth.Err() == nil {
		t.Error("requests live on after Close")
	}
}
