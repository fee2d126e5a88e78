package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Seldom throttles log lines about frequent events: it logs the first at once, then one line per
// minute with a count. The zero value is ready; it is safe for concurrent use.
type Seldom struct {
	mu    sync.Mutex // guards the fields below
	last  time.Time
	count int
}

// seldomEvery is the minimum interval between two lines.
const seldomEvery = time.Minute

// Warn logs at level Warn, with the number of events since the last line as count; or it only
// counts.
func (s *Seldom) Warn(ctx context.Context, log *slog.Logger, text string, attrs ...any) {
	if count, isDue := s.Count(); isDue {
		log.WarnContext(ctx, text, append(attrs, "count", count)...) //nolint:sloglint // constant
	}
}

// Count counts an event. It reports whether a line is due, and the number of events since the last
// one.
func (s *Seldom) Count() (count int, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	now := time.Now()
	if !s.last.IsZero() && now.Sub(s.last) < seldomEvery {
		return 0, false
	}
	count = s.count
	s.last, s.count = now, 0
	return count, true
}
