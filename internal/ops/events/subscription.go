package events

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// FromStart subscribes to all events that are remembered.
const FromStart = "0"

// batchSize bounds how many events Next gives at once.
const batchSize = 256

// Subscription is a place in a feed. It is for one goroutine, and needs no end.
type Subscription struct {
	feed    *Feed
	seen    uint64 // number of the last event that was told
	strange bool   // it began with an id that is not of this feed
}

// Batch is what has happened since.
type Batch struct {
	Gap    bool   // events are missing before these
	Lost   uint64 // how many; of events of an earlier run of the program nobody knows
	Events []Event
}

// Subscribe gives a place behind the event with this id: "" is now, FromStart before all that is remembered. Behind an id
// that is not of this feed comes a gap, then all that is remembered.
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

// Next waits for events and gives them. Its error is that of ctx.
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

// take gives what is there, or what to wait for.
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

// id is how an event is called outside.
func (f *Feed) id(number uint64) string { return f.epoch + "-" + strconv.FormatUint(number, 10) }

// number is that of an event, as this feed or another replica has called it. The lock is held.
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
