package aggregate

import (
	"crypto/rand"
	"errors"
	"testing"

	"secateur/internal/access"
)

func TestOneCallerDoesNotParkTheCallsOfAllOthers(t *testing.T) {
	var calls parkedCalls
	park := func(h access.Holder) (callID, error) {
		p := &parkedCall{holder: h}
		_, _ = rand.Read(p.id[:])
		return p.id, calls.add(p)
	}
	busy, quiet := access.Holder{Principal: "busy"}, access.Holder{Principal: "quiet", Tenant: "a"}
	var first callID
	var err error
	n := 0
	for ; n <= maxParked && err == nil; n++ {
		var id callID
		if id, err = park(busy); n == 0 {
			first = id
		}
	}
	if !errors.Is(err, errTooManyParked) || n > maxParked {
		t.Fatalf("after %d calls of one caller: %v", n, err)
	}
	if _, err := park(quiet); err != nil {
		t.Errorf("another caller: %v", err)
	}
	calls.drop(first)
	calls.drop(first)
	if _, err := park(busy); err != nil {
		t.Errorf("after one of its calls has ended: %v", err)
	}
	if _, err := park(busy); !errors.Is(err, errTooManyParked) {
		t.Errorf("a call that ended twice: %v, want it to make room once", err)
	}
}
