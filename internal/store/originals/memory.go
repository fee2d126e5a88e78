package originals

import (
	"context"
	"sync"
	"time"
)

// costOfKeeping is the overhead of an original in memory besides its text: entry, id and map slot.
// Counting it also limits the number of tiny texts.
const costOfKeeping = 256

// Memory is a Store in this process. It does not copy texts: a substring keeps its whole string
// alive. It never blocks, so it needs no put timeout. Set the fields before the first use.
type Memory struct {
	MaxBytes int64         // room for texts and their overhead; 0: as Default
	TTL      time.Duration // life of an original after its last Put or Get; 0: as Default

	Key        Key  // nil: ids without a key
	DropOldest bool // evict the least recently used; false: refuse new originals

	Shared func() bool // see Options

	// One lock: held for a map access and a few pointers, never while hashing.
	mu   sync.Mutex
	byID map[string]*kept
	// ring.next expires first: with one TTL, order of use (LRU) is order of expiry
	ring    link
	shares  map[string]*share // by tenant
	bytes   int64
	lacking struct { // the last original without room; zero: none
		cost   int64
		tenant string
	}
	refused int64
	dropped int64
	closed  bool
}

type kept struct {
	id, tenant, text string
	expires          time.Time
	all, own         link // in the ring of all, and in the tenant's ring
}

// share is what one tenant keeps.
type share struct {
	bytes int64
	ring  link // least recently used first
}

// link is an element of a ring, or its head.
type link struct {
	prev, next *link
	of         *kept
}

func (l *link) begin() { l.prev, l.next = l, l }

// append adds a link at the end of the ring.
func (l *link) append(last *link) {
	last.prev, last.next = l.prev, l
	last.prev.next, last.next.prev = last, last
}

func (l *link) leave() {
	l.prev.next, l.next.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}

var _ StoreCloser = (*Memory)(nil)

// ID returns the id that Put would return.
func (m *Memory) ID(tenant, text string) string { return m.Key.ID(tenant, text) }

// Put stores the text.
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
		oldest := m.oldestFor(tenant, cost)
		if oldest == nil {
			break
		}
		m.drop(oldest)
		m.dropped++
	}
	if !m.fits(tenant, cost) {
		m.refused++
		m.lacking.cost, m.lacking.tenant = cost, tenant
		return "", ErrFull
	}
	m.lacking.cost = 0
	m.keep(&kept{id: id, tenant: tenant, text: text}, now)
	return id, nil
}

// fits reports whether a tenant has room for a text of this cost.
func (m *Memory) fits(tenant string, cost int64) bool {
	left := m.maxBytes() - m.bytes - cost
	if left < 0 {
		return false
	}
	return m.DropOldest || m.Shared == nil || !m.Shared() || m.has(tenant)+cost <= left
}

func (m *Memory) has(tenant string) int64 {
	if s := m.shares[tenant]; s != nil {
		return s.bytes
	}
	return 0
}

// oldestFor returns the original to evict for a tenant's new text: the least recently used of the
// largest tenant. The text counts for its tenant. nil: a tenant never loses originals to a larger
// one.
func (m *Memory) oldestFor(tenant string, cost int64) *kept {
	most, bytes := m.shares[tenant], m.has(tenant)+cost
	for _, s := range m.shares {
		if s.bytes > bytes {
			most, bytes = s, s.bytes
		}
	}
	if most == nil {
		return nil
	}
	return most.ring.next.of
}

func (m *Memory) keep(k *kept, now time.Time) {
	if m.byID == nil {
		m.byID, m.shares = map[string]*kept{}, map[string]*share{}
		m.ring.begin()
	}
	s := m.shares[k.tenant]
	if s == nil {
		s = &share{}
		s.ring.begin()
		m.shares[k.tenant] = s
	}
	cost := costOf(k.tenant, k.text)
	m.byID[k.id] = k
	m.bytes += cost
	s.bytes += cost
	k.all.of, k.own.of = k, k
	m.link(k, now)
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

// Stats returns the current counts.
func (m *Memory) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(time.Now())
	return Stats{
		Kind: KindMemory, Count: len(m.byID), Bytes: m.bytes, MaxBytes: m.maxBytes(),
		Full: m.lacking.cost > 0 && !m.fits(m.lacking.tenant, m.lacking.cost), Refused: m.refused, Dropped: m.dropped,
	}
}

// Close discards everything.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.byID, m.shares, m.ring, m.bytes = nil, nil, link{}, 0
	return nil
}

// dropExpired removes expired originals. They are at the front of the ring.
func (m *Memory) dropExpired(now time.Time) {
	for len(m.byID) > 0 {
		k := m.ring.next.of
		if now.Before(k.expires) {
			return
		}
		m.drop(k)
	}
	m.byID, m.shares = nil, nil // a map never shrinks; release the memory of an empty one
}

func (m *Memory) drop(k *kept) {
	k.all.leave()
	k.own.leave()
	delete(m.byID, k.id)
	cost := costOf(k.tenant, k.text)
	m.bytes -= cost
	s := m.shares[k.tenant]
	if s.bytes -= cost; s.bytes == 0 {
		delete(m.shares, k.tenant)
	}
}

func (m *Memory) renew(k *kept, now time.Time) {
	k.all.leave()
	k.own.leave()
	m.link(k, now)
}

// link makes an original the most recently used.
func (m *Memory) link(k *kept, now time.Time) {
	k.expires = now.Add(m.ttl())
	m.ring.append(&k.all)
	m.shares[k.tenant].ring.append(&k.own)
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
	return Default().TTL
}

func costOf(tenant, text string) int64 { return int64(len(tenant)) + int64(len(text)) + costOfKeeping }
