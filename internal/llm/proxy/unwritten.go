package proxy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"secateur/internal/llm/chat"
)

// unwritten holds the records that could not be stored, in this process.
type unwritten struct {
	// Last time when a request was sent without a record, Unix seconds; 0: never. It applies to all
	// conversations: if one cannot be recorded, another replica has likely sent others unknown to
	// us.
	sent atomic.Int64

	mu      sync.Mutex // guards the fields below
	records map[string]*chat.Record
	order   []string // keys of records, earliest first
	cuts    int      // of all records
}

const (
	maxUnwritten     = 1024
	maxUnwrittenCuts = 16 << 10
)

// sentUnwritten notes that a request is sent without a record. A client that has gone sends
// nothing.
func (p *Proxy) sentUnwritten(ctx context.Context, now int64) {
	if ctx.Err() != nil {
		return
	}
	sent := &p.unwritten.sent
	for last := sent.Load(); now > last && !sent.CompareAndSwap(last, now); last = sent.Load() {
	}
}

// keep holds a record that could not be stored under any of the keys, and is newer than the stored
// one. The oldest ones are evicted.
func (u *unwritten) keep(r *chat.Record, keys ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.records == nil {
		u.records = map[string]*chat.Record{}
	}
	for _, key := range keys {
		u.drop(key)
		u.records[key] = r
		u.order, u.cuts = append(u.order, key), u.cuts+len(r.Cuts)
	}
	for len(u.order) > maxUnwritten || u.cuts > maxUnwrittenCuts {
		u.drop(u.order[0])
	}
}

// written drops the records that the store has again.
func (u *unwritten) written(keys ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		u.drop(key)
	}
}

// drop removes a record. The caller holds the lock.
func (u *unwritten) drop(key string) {
	if r := u.records[key]; r != nil {
		u.cuts -= len(r.Cuts)
		delete(u.records, key)
		at := slices.Index(u.order, key)
		u.order = slices.Delete(u.order, at, at+1)
	}
}

// find returns the record held under a key; nil: none.
func (u *unwritten) find(key string) *chat.Record {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.records[key]
}
