package rerank

import (
	"context"
	"errors"
	"testing"
	"time"

	"secateur/internal/secret"
)

// A caller whose deadline has passed gets that error, even if its leaving has cancelled the request
// first.
func TestDeadlineOfACallerIsNotCalledACancel(t *testing.T) {
	s := Default()
	s.Backend, s.DeepInfraAPIKey = string(DeepInfra), secret.New("k")
	c, err := New(Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for range 64 { // both are ready, so the order is random
		f := &flight{done: make(chan struct{}), cancel: func() {}, waiters: 1, err: c.fail(KindHTTP, 0, context.Canceled)}
		close(f.done)
		if _, err := c.join(ctx, f); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("join = %v, want the deadline", err)
		}
	}
}
