package downstream_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// Each of many concurrent calls has its own silence timer. A call answered within 50 ms is sent
// whole. Every other call's stream begins 50 ms after the call arrived, whatever came before and
// after.
func TestEachSilenceIsBrokenInItsTime(t *testing.T) {
	const patience = 50 * time.Millisecond
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		ms, _ := strconv.Atoi(req.Method)
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return streamed(result(req, `1`))
	}}
	inBubble(t, b, func(h *house) {
		session := h.open(h.t, "2025-11-25")
		for round := range 2 { // the second begins when no call waits any longer
			var calls sync.WaitGroup
			for i, ms := range []int{10, 300, 5, 60, 20, 200, 49, 51, 1, 100, 40, 400} {
				calls.Go(func() {
					time.Sleep(time.Duration(i) * 7 * time.Millisecond)
					began, lasts := time.Now(), time.Duration(ms)*time.Millisecond
					resp := h.ask(h.t, "POST", "", call(i+1, strconv.Itoa(ms)), session)
					if isWhole, took := resp.ContentLength >= 0, time.Since(began); isWhole != (lasts < patience) || took != min(lasts, patience) {
						h.t.Errorf("round %d, a call of %s: whole %v, its header after %s", round, lasts, isWhole, took)
					}
					if _ = text(h.t, resp); time.Since(began) != lasts {
						h.t.Errorf("round %d, a call of %s took %s", round, lasts, time.Since(began))
					}
				})
			}
			calls.Wait()
			time.Sleep(time.Second)
		}
	})
}
