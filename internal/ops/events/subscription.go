package events

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// FromStart subscribes from the oldest stored event.
const FromStart = "0"

// batchSize limits the number of events that Next returns.
const batchSize = 256

// Subscription is a cursor into a feed. It is for one goroutine, and need not be closed.
type Subscription struct {
	feed    *Feed
	seen    uint64 // number of the last event returned
	strange bool   // it began with an id unknown to this feed
}

// Batch is the result of Next.
type Batch struct {
	Gap    bool   // events are missing before these
	Lost   uint64 // number of missing events; unknown for an earlier run of the program
	Events []Event
}

// Subscribe returns a cursor after the event with this id. "" means now, FromStart means before the
// oldest stored event. After an unknown id comes a gap, then everything stored.
func (f *Feed) Subscribe(lastID string) *Subscription {
	s := &Subscription{feed: f}
	if f == nil {
		return s
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	number, ours := f.number(lastID)
	switch {
	case lastID == "":
		s.seen = f.last
	case lastID == FromStart:
		s.seen = f.oldest() - 1
	case !ours:
		s.strange = true
	default:
		s.seen = number
	}
	return s
}

// Next waits for events and returns them. Its error is that of ctx.
func (s *Subscription) Next(ctx context.Context) (Batch, error) {
	if s.feed == nil {
		<-ctx.Done()
		return Batch{}, ctx.Err()
	}
	for {
		batch, wake := s.take()
		if wake == nil {
			return batch, nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

// take returns the pending events, or a channel to wait for.
func (s *Subscription) take() (Batch, <-chan struct{}) {
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	var batch Batch
	if first := f.oldest(); s.seen+1 < first {
		batch.Gap, batch.Lost = true, first-1-s.seen
		s.seen = first - 1
	}
	if s.strange {
		batch.Gap, s.strange = true, false
	}
	if s.seen == f.last && !batch.Gap {
		f.waits++
		return Batch{}, f.wake
	}
	last := min(f.last, s.seen+batchSize)
	batch.Events = f.between(s.seen+1, last)
	s.seen = last
	return batch, nil
}

// id returns the external id of an event.
func (f *Feed) id(number uint64) string { return f.epoch + "-" + strconv.FormatUint(number, 10) }

// number returns the number of an event, by an id of this feed or of another replica. The caller
// holds mu.
func (f *Feed) number(id string) (uint64, bool) {
	digits, ok := strings.CutPrefix(id, f.epoch+"-")
	if !ok {
		i := slices.IndexFunc(f.ring, func(s slot) bool { return s.id == id })
		if id == "" || i < 0 {
			return 0, false
		}
		return f.ring[i].number, true
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && number <= f.last
}
