package proxy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"secateur/internal/llm/chat"
)

// unwritten is what could not be written down of conversations, for as long as this process lives.
type unwritten struct {
	// When a request was last sent of which that could not be written down, Unix seconds; 0: never. It is one time for all conversations: where
	// one cannot be written down, another replica is likely to have sent others of which we do not know.
	sent atomic.Int64

	mu      sync.Mutex // guards the fields below
	records map[string]*chat.Record
	order   []string // the keys of records, the earliest first
	cuts    int      // of all records
}

const (
	maxUnwritten     = 1024
	maxUnwrittenCuts = 16 << 10
)

// sentUnwritten notes that a request goes out at a time that could not be written down. For a client who has gone nothing is sent.
func (p *Proxy) sentUnwritten(ctx context.Context, now int64) {
	if ctx.Err() != nil {
		return
	}
	sent := &p.unwritten.sent
	for last := sent.Load(); now > last && !sent.CompareAndSwap(last, now); last = sent.Load() {
	}
}

// keep holds a record that could not be written down under any of the keys, which is newer than what the store has there. Those that were held for
// longest make room.
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

// written forgets what the store has again.
func (u *unwritten) written(keys ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		u.drop(key)
	}
}

// drop forgets a record; the lock is held.
func (u *unwritten) drop(key string) {
	if r := u.records[key]; r != nil {
		u.cuts -= len(r.Cuts)
		delete(u.records, key)
		at := slices.Index(u.order, key)
		u.order = slices.Delete(u.order, at, at+1)
	}
}

// find gives the record that is held under a key; nil: none is.
func (u *unwritten) find(key string) *chat.Record {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.records[key]
}
