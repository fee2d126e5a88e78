package pool

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
)

// ListInfo is for how long and for whom lists may be kept.
type ListInfo struct {
	TTLMillis int64  // 0: they should be asked for again each time
	Scope     string // public or private
}

// What Scope may be.
const (
	scopePublic  = "public"
	scopePrivate = "private"
)

// merged is a catalog that is made when it is first wanted.
type merged struct {
	catalog func() *catalog.Catalog
	numbers []uint64 // of the snapshots that it is made of; 0: none
	used    uint64   // the pool's version when it last was; guarded by Pool.mu
}

// maxMerged bounds how many catalogs are kept.
const maxMerged = 128

// Catalog is what the member's servers list. It waits for those that have not been there yet, until FirstListWait after
// the member has joined, or they were first wanted, whichever is sooner, and no longer than a client waits for us that is known to give up before; for one that is not there now, what it last listed stands in. Members who see the same
// get the same *catalog.Catalog. A member with an Observer is from now on told when it is not true any more.
func (m *Member) Catalog(ctx context.Context) (*catalog.Catalog, ListInfo) {
	m.gather(ctx, m.pool.roster.Load().firstListWait, (*Member).listed)
	f := m.pool
	f.mu.Lock()
	version := f.version
	made := m.merged()
	info := m.listInfo()
	for i := range m.leases {
		if c := m.leases[i].conn; c != nil {
			c.refresh()
		}
	}
	f.mu.Unlock()
	all := made.catalog()
	if m.observer != nil {
		m.see(all, version)
	}
	return all, info
}

// see notes what the member has been given, made when the pool was at a version.
func (m *Member) see(all *catalog.Catalog, version uint64) {
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.left {
		return
	}
	m.seen = all
	f.watchers[m] = struct{}{}
	if f.version != version {
		signal(f.news) // it may be out of date already
	}
}

// snapshotOf is what a server lists for the member: on its connection, or else, and as long as that has not listed
// all, what it last listed to others; nil if nothing is known. The pool is locked.
func (m *Member) snapshotOf(s *server) *snapshot {
	if c := m.connTo(s); c != nil && c.snapshot != nil && (isClosed(c.listed) || s.last == nil) {
		return c.snapshot
	}
	return s.last
}

// merged is the catalog of what the member's servers list now. The pool is locked.
func (m *Member) merged() *merged {
	f := m.pool
	servers := m.servers()
	key := make([]byte, 0, 4*len(servers)+len(m.client.Only))
	for _, s := range servers {
		key = binary.AppendUvarint(key, m.snapshotOf(s).id())
	}
	key = append(key, m.client.Only...)
	made := f.merged[string(key)]
	if made == nil {
		f.forgetMerged()
		numbers := make([]uint64, len(servers))
		lists := make([]catalog.ServerLists, len(servers))
		names := f.roster.Load().names
		for i, s := range servers {
			lists[i] = catalog.ServerLists{Server: s.settings.ID}
			if snapshot := m.snapshotOf(s); snapshot != nil {
				lists[i], numbers[i] = snapshot.lists(), snapshot.number
			}
		}
		made = &merged{numbers: numbers, catalog: sync.OnceValue(func() *catalog.Catalog { return catalog.Merge(lists, names) })}
		f.merged[string(key)] = made
	}
	made.used = f.version
	return made
}

// forgetMerged makes room for another catalog: those of lists that are no more go, and else the one that was not used for
// longest. The pool is locked.
func (f *Pool) forgetMerged() {
	current := map[uint64]bool{0: true}
	for _, s := range f.roster.Load().servers {
		current[s.last.id()] = true
		for _, c := range s.conns {
			current[c.snapshot.id()] = true
		}
	}
	oldest := ""
	for key, made := range f.merged {
		if slices.ContainsFunc(made.numbers, func(n uint64) bool { return !current[n] }) {
			delete(f.merged, key)
		} else if oldest == "" || made.used < f.merged[oldest].used {
			oldest = key
		}
	}
	if len(f.merged) >= maxMerged {
		delete(f.merged, oldest)
	}
}

// listInfo joins what the servers say about how their lists may be kept. The pool is locked.
func (m *Member) listInfo() ListInfo {
	ttl, scope := time.Duration(-1), scopePublic
	for _, s := range m.servers() {
		c := m.connTo(s)
		if c == nil || eraOf(c.peer.Load()) != era.Modern {
			return ListInfo{Scope: scopePrivate}
		}
		offers := c.offers()
		for l := range c.caches {
			list := catalog.List(l)
			if !offers.list(list) {
				continue
			}
			left := c.fresh[l].ttl
			if !c.announces(offers, list) {
				left -= time.Since(c.fresh[l].at)
			}
			if ttl < 0 || left < ttl {
				ttl = max(left, 0)
			}
			if c.fresh[l].scope != scopePublic {
				scope = scopePrivate
			}
		}
	}
	if ttl < 0 {
		return ListInfo{Scope: scopePrivate}
	}
	return ListInfo{TTLMillis: ttl.Milliseconds(), Scope: scope}
}
