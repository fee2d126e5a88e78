package events

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a feed: of all events together, for listeners that resume; and of each type except
// requests, for lists.
const (
	ringSize = 2048
	listSize = 1000
)

// Feed keeps the latest events. It is safe for concurrent use.
type Feed struct {
	epoch string // prefix of all its ids

	mu    sync.Mutex // guards the fields below
	last  uint64     // number of the latest event; the first is 1
	ring  []slot     // latest events; once full, number n is at (n-1)%ringSize
	lists map[Type]*list
	wake  chan struct{} // closed and replaced at the next event, if anyone waits
	waits int           // number of waiters
}

// slot is a stored event. Requests are stored by value, because they are frequent and rarely read.
type slot struct {
	number  uint64
	id      string // id from another replica; "": this feed's own
	at      time.Time
	request Request
	data    Data // nil: the event is request
}

// list is a ring of the latest events of a type.
type list struct {
	slots []slot
	next  int // index of the next one, once it is full
}

// New returns a feed.
func New() *Feed {
	f := &Feed{epoch: strings.ToLower(rand.Text()[:8]), lists: map[Type]*list{}, wake: make(chan struct{})}
	for _, t := range append(Types(), TypeGap) {
		if t != TypeRequest {
			f.lists[t] = &list{}
		}
	}
	return f
}

// Publish adds an event.
func (f *Feed) Publish(d Data) {
	if f == nil {
		return
	}
	now := time.Now()
	switch v := d.(type) {
	case Request:
		f.PublishRequest(v)
		return
	case Cut:
		if v.At.IsZero() {
			v.At = now
		}
		d = v
	case Refusal:
		if v.At.IsZero() {
			v.At = now
		}
		d = v
	case Log:
		if v.At.IsZero() {
			v.At = now
		}
		d = v
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := slot{at: now, data: d}
	f.append(&s)
	f.lists[d.Type()].append(s)
}

// Keep adds a refusal only to the list of its type. Listeners are not notified, and no other event
// is pushed out.
func (f *Feed) Keep(r Refusal) {
	if f == nil {
		return
	}
	if r.At.IsZero() {
		r.At = time.Now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists[TypeRefusal].append(slot{number: f.last, at: r.At, data: r})
}

// PublishRequest is Publish for a request. It does not allocate.
func (f *Feed) PublishRequest(r Request) {
	if f == nil {
		return
	}
	s := slot{at: time.Now(), request: r}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append(&s)
}

// append assigns a number to an event, stores it and wakes waiters. The caller holds mu.
func (f *Feed) append(s *slot) {
	f.last++
	s.number = f.last
	if len(f.ring) < ringSize {
		f.ring = append(f.ring, *s)
	} else {
		f.ring[f.index(s.number)] = *s
	}
	if f.waits > 0 {
		close(f.wake)
		f.wake, f.waits = make(chan struct{}), 0
	}
}

// index returns an event's index in the ring.
func (f *Feed) index(number uint64) int { return int((number - 1) % ringSize) }

// oldest returns the number of the oldest stored event, or of the next one if there is none. The
// caller holds mu.
func (f *Feed) oldest() uint64 { return f.last - uint64(len(f.ring)) + 1 }

func (l *list) append(s slot) {
	if len(l.slots) < listSize {
		l.slots = append(l.slots, s)
		return
	}
	l.slots[l.next] = s
	l.next = (l.next + 1) % listSize
}

// newest iterates over the list, latest first.
func (l *list) newest(yield func(*slot) bool) {
	for i := range len(l.slots) {
		at := (l.next - 1 - i + 2*len(l.slots)) % len(l.slots)
		if !yield(&l.slots[at]) {
			return
		}
	}
}

// Recent returns up to limit events of a type, latest first. Events of other replicas are ordered
// by their time, however late they arrived.
func (f *Feed) Recent(t Type, limit int) (found []Event) {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t != TypeRequest {
		for s := range f.lists[t].newest {
			found = append(found, f.event(s))
		}
		slices.SortStableFunc(found, func(a, b Event) int { return b.At.Compare(a.At) })
		return found[:min(limit, len(found))]
	}
	for number := f.last; number >= f.oldest() && number > 0 && len(found) < limit; number-- {
		if s := &f.ring[f.index(number)]; s.data == nil {
			found = append(found, f.event(s))
		}
	}
	return found
}

// Cuts returns the latest cuts, latest first.
func (f *Feed) Cuts(limit int) []Cut {
	found := f.Recent(TypeCut, limit)
	cuts := make([]Cut, len(found))
	for i, e := range found {
		cuts[i], _ = e.Data.(Cut)
	}
	return cuts
}

// Recovered records that an original was requested. It returns the cut, and whether this is its
// first recovery.
func (f *Feed) Recovered(id string) (cut Cut, first bool) {
	if f == nil {
		return Cut{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.lists[TypeCut].newest {
		if c, ok := s.data.(Cut); ok && c.ID == id && !c.Recovered {
			c.Recovered, c.RecoveredAt = true, time.Now()
			s.data = c
			if !first {
				cut, first = c, true
			}
		}
	}
	return cut, first
}

// event converts a slot to an Event. The caller holds mu.
func (f *Feed) event(s *slot) Event {
	e := Event{ID: cmp.Or(s.id, f.id(s.number)), At: s.at, Data: s.data}
	if s.data == nil {
		r := s.request
		r.At = s.at
		e.Data = r
	}
	e.Type = e.Data.Type()
	return e
}

// between returns the stored events from first to last. The caller holds mu.
func (f *Feed) between(first, last uint64) []Event {
	found := make([]Event, 0, last+1-first)
	for number := first; number <= last; number++ {
		found = append(found, f.event(&f.ring[f.index(number)]))
	}
	return slices.Clip(found)
}
