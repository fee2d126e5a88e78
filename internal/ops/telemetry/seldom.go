package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Seldom logs what may happen many thousand times a second: the first time at once, then once a minute how often it was.
// The zero value is ready; it is safe for concurrent use.
type Seldom struct {
	mu    sync.Mutex // guards the fields below
	last  time.Time
	count int
}

// seldomEvery is how much time is between two lines.
const seldomEvery = time.Minute

// Warn logs at Warn with the number of times since the last line as count, or only counts.
func (s *Seldom) Warn(ctx context.Context, log *slog.Logger, text string, attrs ...any) {
	if count, isDue := s.Count(); isDue {
		log.WarnContext(ctx, text, append(attrs, "count", count)...) //nolint:sloglint // the text is a constant of the caller's
	}
}

// Count counts one more. It reports whether it is due to be told, and how many there were since the last that was.
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
