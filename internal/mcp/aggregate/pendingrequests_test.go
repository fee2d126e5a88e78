package aggregate

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/wire"
)

// A question whose client is not there any more is not kept for as long as a person may take.
func TestAnAbandonedQuestionEnds(t *testing.T) {
	const thinks, away = 10 * time.Minute, 2 * time.Minute
	for _, c := range []struct {
		rule  string
		heard func(since time.Duration) bool
		want  time.Duration
		says  string
	}{
		{"a client that is there has time to think", func(time.Duration) bool { return true }, thinks, "did not answer"},
		{"one that is gone has not", func(time.Duration) bool { return false }, away, "has gone"},
		{"one that comes back has", func(d time.Duration) bool { return d > away/2 }, thinks, "did not answer"},
		{"one that goes while it thinks has not", func(d time.Duration) bool { return d < away }, 2*away - away/looks, "has gone"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &clientConn{Server: &Server{
					opt: Options{AnswerTime: thinks, ParkTime: away}, log: slog.New(slog.DiscardHandler),
				}}
				began := time.Now()
				req := wire.NewRequest(wire.NumberID(7), "elicitation/create", nil)
				answer := s.askClient(t.Context(), serverRequest{
					server: "a", req: &req, send: func([]byte) bool { return true },
					heard: func() bool { return c.heard(time.Since(began)) },
				})
				if took := time.Since(began); took != c.want || !strings.Contains(string(answer), c.says) {
					t.Errorf("%s after %s, want %q after %s", answer, took, c.says, c.want)
				}
			})
		})
	}
}

// Nobody can say whether the client of a parked call will ever come back, and its server waits meanwhile.
func TestAParkedCallWaitsTwoMinutesAtMost(t *testing.T) {
	if got := (Options{}).withDefaults().ParkTime; got <= 0 || got > 2*time.Minute {
		t.Errorf("a parked call waits %s for its client, want two minutes at most", got)
	}
}
