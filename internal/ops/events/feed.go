package events

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"
)

// How much a feed remembers: of all events together, for listeners that come back, and of each type but requests, for lists.
const (
	ringSize = 2048
	listSize = 1000
)

// Feed remembers the newest events. It may be used by many goroutines.
type Feed struct {
	epoch string // its own name, which all of its ids begin with

	mu    sync.Mutex // guards the fields below
	last  uint64     // number of the newest event; the first is 1
	ring  []slot     // the newest events, number n at n%ringSize once it is full
	lists map[Type]*list
	wake  chan struct{} // closed and replaced with the next event, where somebody waits
	waits int           // how many do
}

// slot is an event as it is remembered. Requests are stored by value: they are many, and nobody may ever look at them.
type slot struct {
	number  uint64
	id      string // that another replica has given it; "": it is this feed's own
	at      time.Time
	request Request
	data    Data // nil: it is the request
}

// list is the newest events of a type, a ring too.
type list struct {
	slots []slot
	next  int // where the next one goes, once it is full
}

// New makes a feed.
func New() *Feed {
	f := &Feed{epoch: strings.ToLower(rand.Text()[:8]), lists: map[Type]*list{}, wake: make(chan struct{})}
	for _, t := range append(Types(), TypeGap) {
		if t != TypeRequest {
			f.lists[t] = &list{}
		}
	}
	return f
}

// Publish tells that something has happened.
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

// Keep remembers a refusal in the list of its type only: no listener is told, and it takes no place of another event.
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

// append gives an event its number, remembers it and wakes whoever waits. The lock is held.
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

// index is where an event stands in the ring.
func (f *Feed) index(number uint64) int { return int((number - 1) % ringSize) }

// oldest is the number of the oldest event that is remembered, or of the next one where none is. The lock is held.
func (f *Feed) oldest() uint64 { return f.last - uint64(len(f.ring)) + 1 }

func (l *list) append(s slot) {
	if len(l.slots) < listSize {
		l.slots = append(l.slots, s)
		return
	}
	l.slots[l.next] = s
	l.next = (l.next + 1) % listSize
}

// newest gives the list from its end.
func (l *list) newest(yield func(*slot) bool) {
	for i := range len(l.slots) {
		at := (l.next - 1 - i + 2*len(l.slots)) % len(l.slots)
		if !yield(&l.slots[at]) {
			return
		}
	}
}

// Recent gives the newest events of a type, the newest first, limit at most. Those of other replicas stand where they belong by their time, however
// late they came.
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

// Cuts gives the newest cuts, the newest first.
func (f *Feed) Cuts(limit int) []Cut {
	found := f.Recent(TypeCut, limit)
	cuts := make([]Cut, len(found))
	for i, e := range found {
		cuts[i], _ = e.Data.(Cut)
	}
	return cuts
}

// Recovered notes that an original was asked for, and reports whether it is the first time for a cut that is remembered,
// with that cut.
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

// event is a slot as it is told. The lock is held.
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

// between gives the remembered events with numbers from first to last. The lock is held.
func (f *Feed) between(first, last uint64) []Event {
	found := make([]Event, 0, last+1-first)
	for number := first; number <= last; number++ {
		found = append(found, f.event(&f.ring[f.index(number)]))
	}
	return slices.Clip(found)
}
