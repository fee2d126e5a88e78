package records

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Defaults of the options.
const (
	DefaultMaxBytes = 64 << 20
	DefaultTTL      = 24 * time.Hour
)

// costOfKeeping is the overhead of a value besides its bytes and its key. Counting it limits the
// number of tiny values.
const costOfKeeping = 160

// ErrTooLarge means that a value alone exceeds the store's limit.
var ErrTooLarge = errors.New("value is larger than the store of records")

// Memory keeps values in this process. Set the fields before the first use.
type Memory struct {
	MaxBytes int64         // room for all values; 0: DefaultMaxBytes
	TTL      time.Duration // life after the last use; 0: DefaultTTL

	mu    sync.Mutex // guards the fields below
	byKey map[string]*entry
	ring  entry // ring.next is the least recently used
	bytes int64
}

type entry struct {
	key        string
	value      []byte
	expires    time.Time
	prev, next *entry
}

func (e *entry) cost() int64 { return int64(len(e.key)) + int64(len(e.value)) + costOfKeeping }

// Get returns the value. The caller must not change it.
func (m *Memory) Get(_ context.Context, key string) (value []byte, ok bool, err error) {
	value, ok = m.get(key)
	return value, ok, nil
}

func (m *Memory) get(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byKey[key]
	if e == nil {
		return nil, false
	}
	now := time.Now()
	m.unlink(e)
	if !now.Before(e.expires) {
		m.forget(e)
		return nil, false
	}
	m.link(e, now)
	return e.value, true
}

// Put stores a copy of the value, replacing an earlier one. If necessary it evicts the least
// recently used values.
func (m *Memory) Put(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.put(key, value)
}

// PutNew stores a value if its key has none, and reports whether it did.
func (m *Memory) PutNew(_ context.Context, key string, value []byte) (first bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.byKey[key]; old != nil && time.Now().Before(old.expires) {
		return false, nil
	}
	err = m.put(key, value)
	return err == nil, err
}

// put stores a value. The caller holds mu.
func (m *Memory) put(key string, value []byte) error {
	e := &entry{key: key, value: append([]byte(nil), value...)}
	limit := m.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	if old := m.byKey[key]; old != nil {
		m.unlink(old)
		m.forget(old)
	}
	if e.cost() > limit {
		return ErrTooLarge
	}
	if m.byKey == nil {
		m.byKey = map[string]*entry{}
		m.ring.prev, m.ring.next = &m.ring, &m.ring
	}
	now := time.Now()
	m.byKey[key] = e
	m.bytes += e.cost()
	m.link(e, now)
	for first := m.ring.next; m.bytes > limit || !now.Before(first.expires); first = m.ring.next {
		m.unlink(first)
		m.forget(first)
	}
	return nil
}

// drop removes a value.
func (m *Memory) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.byKey[key]; e != nil {
		m.unlink(e)
		m.forget(e)
	}
}

// Len returns the number of values, including expired ones not yet removed.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.byKey)
}

func (m *Memory) link(e *entry, now time.Time) {
	ttl := m.TTL
	if ttl <= 0 {
		ttl = DefaultTTL
	}
	e.expires = now.Add(ttl)
	e.prev, e.next = m.ring.prev, &m.ring
	e.prev.next, e.next.prev = e, e
}

func (m *Memory) unlink(e *entry) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

func (m *Memory) forget(e *entry) {
	delete(m.byKey, e.key)
	m.bytes -= e.cost()
}
