package originals

import (
	"context"
	"sync"
	"time"
)

// costOfKeeping is what an original in memory takes beside its text: its entry, its id and its place in the map.
// Counting it bounds the number of tiny texts too.
const costOfKeeping = 256

// Memory is a Store that keeps texts as they are, in this process. It copies nothing: a text that is a part of a
// larger string keeps that string alive. Copying none and waiting for nothing, it needs no put timeout.
// Set the fields before the first use.
type Memory struct {
	MaxBytes int64         // room for texts and what keeping them costs; 0: as Default
	TTL      time.Duration // how long an original lives after it was last put or got; 0: as Default

	Key        Key  // nil: ids are made without one
	DropOldest bool // those that were not used for longest make room for new ones; false: new ones are refused

	// One lock: it is held for a map access and a few pointers, never while hashing.
	mu      sync.Mutex
	byID    map[string]*kept
	ring    kept // ring.next is the one that expires first: one TTL for all, so order of use (LRU) is order of expiry
	bytes   int64
	lacking int64 // what the last one cost for which there was no room; 0: there was
	refused int64
	dropped int64
	closed  bool
}

type kept struct {
	id, tenant, text string
	expires          time.Time
	prev, next       *kept
}

var _ StoreCloser = (*Memory)(nil)

// ID is what Put would return.
func (m *Memory) ID(tenant, text string) string { return m.Key.ID(tenant, text) }

// Put keeps the text.
func (m *Memory) Put(_ context.Context, tenant, text string) (string, error) {
	id := m.ID(tenant, text)
	cost := costOf(tenant, text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		m.refused++
		return "", ErrUnavailable
	}
	if cost > m.maxBytes() {
		m.refused++
		return "", ErrTooLarge
	}
	now := time.Now()
	m.dropExpired(now)
	if k := m.byID[id]; k != nil {
		m.renew(k, now)
		return id, nil
	}
	for m.DropOldest && m.bytes+cost > m.maxBytes() {
		m.drop(m.ring.next)
		m.dropped++
	}
	if m.bytes+cost > m.maxBytes() {
		m.refused++
		m.lacking = cost
		return "", ErrFull
	}
	m.lacking = 0
	if m.byID == nil {
		m.byID = map[string]*kept{}
		m.ring.prev, m.ring.next = &m.ring, &m.ring
	}
	k := &kept{id: id, tenant: tenant, text: text}
	m.byID[id] = k
	m.bytes += cost
	m.link(k, now)
	return id, nil
}

// Get returns the text.
func (m *Memory) Get(_ context.Context, tenant, id string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return "", ErrUnavailable
	}
	now := time.Now()
	k := m.byID[id]
	if k == nil || k.tenant != tenant || !now.Before(k.expires) {
		return "", ErrNotFound
	}
	m.renew(k, now)
	return k.text, nil
}

// Stats tells what is kept now.
func (m *Memory) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(time.Now())
	return Stats{
		Kind: KindMemory, Count: len(m.byID), Bytes: m.bytes, MaxBytes: m.maxBytes(),
		Full: m.lacking > 0 && m.bytes+m.lacking > m.maxBytes(), Refused: m.refused, Dropped: m.dropped,
	}
}

// Close forgets everything.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.byID, m.ring, m.bytes = nil, kept{}, 0
	return nil
}

// dropExpired forgets the originals whose time is over. Each is dropped once, at the front of the ring.
func (m *Memory) dropExpired(now time.Time) {
	for len(m.byID) > 0 {
		k := m.ring.next
		if now.Before(k.expires) {
			return
		}
		m.drop(k)
	}
	m.byID = nil // a map keeps the room it once needed; an empty one gives it back
}

func (m *Memory) drop(k *kept) {
	m.unlink(k)
	delete(m.byID, k.id)
	m.bytes -= costOf(k.tenant, k.text)
}

func (m *Memory) renew(k *kept, now time.Time) {
	m.unlink(k)
	m.link(k, now)
}

func (m *Memory) link(k *kept, now time.Time) {
	k.expires = now.Add(m.ttl())
	k.prev, k.next = m.ring.prev, &m.ring
	k.prev.next, k.next.prev = k, k
}

func (m *Memory) unlink(k *kept) {
	k.prev.next, k.next.prev = k.next, k.prev
	k.prev, k.next = nil, nil
}

func (m *Memory) maxBytes() int64 {
	if m.MaxBytes > 0 {
		return m.MaxBytes
	}
	return Default().MaxBytes
}

func (m *Memory) ttl() time.Duration {
	if m.TTL > 0 {
		return m.TTL
	}
	return Default().TTL()
}

func costOf(tenant, text string) int64 { return int64(len(tenant)) + int64(len(text)) + costOfKeeping }
