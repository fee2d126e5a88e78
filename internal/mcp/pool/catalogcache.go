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

// ListInfo says how long lists may be cached, and whether publicly.
type ListInfo struct {
	TTLMillis int64  // 0: fetch them each time
	Scope     string // public or private
}

// The values of Scope.
const (
	scopePublic  = "public"
	scopePrivate = "private"
)

// merged is a catalog that is built on first use.
type merged struct {
	catalog func() *catalog.Catalog
	numbers []uint64 // numbers of the snapshots it is built from; 0: none
	used    uint64   // guarded by Pool.mu; the pool's version at its last use
}

// maxMerged limits the number of cached catalogs.
const maxMerged = 128

// Catalog returns the merged lists of the member's servers. It waits for servers that have not
// started yet. The wait ends FirstListWait after the member joined or the servers were first
// needed, whichever is earlier; with WaitForAll it may last longer. It also ends before the timeout
// of a client known to be impatient.
// A server that is down contributes its last known lists. Members who see the same lists get the
// same *catalog.Catalog. From now on, a member with an Observer is notified when the catalog
// changes.
func (m *Member) Catalog(ctx context.Context) (*catalog.Catalog, ListInfo) {
	m.gather(ctx, m.listWait(), (*Member).listed)
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

// LongestListWait bounds the wait of clients that read the lists once. The SDKs give up a request
// after 60 s.
const LongestListWait = 50 * time.Second

// listWait returns how long the member's lists wait for each server.
func (m *Member) listWait() func(*server) time.Duration {
	r := m.pool.roster.Load()
	return func(s *server) time.Duration {
		if r.waitForAll && catalog.ListsOnce(m.client.Name) {
			return max(r.firstListWait, min(s.startupTimeout(), LongestListWait))
		}
		return r.firstListWait
	}
}

// Missing returns the ids of the servers that are not in the member's list yet, in order.
func (m *Member) Missing(l catalog.List) (ids []string) {
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range m.servers() {
		c := m.connTo(s)
		if !s.listed.Load() && (c == nil || c.fresh[l].at.IsZero()) {
			ids = append(ids, s.settings.ID)
		}
	}
	return ids
}

// see records the catalog that the member got, built at the given pool version.
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
		signal(f.news) // it may be outdated already
	}
}

// snapshotOf returns what a server lists for the member: the snapshot of its connection or, until
// that is complete, the last one listed to others; nil: none. The caller holds Pool.mu.
func (m *Member) snapshotOf(s *server) *snapshot {
	if c := m.connTo(s); c != nil && c.snapshot != nil && (isClosed(c.listed) || s.last == nil) {
		return c.snapshot
	}
	return s.last
}

// merged returns the catalog of the current lists of the member's servers. The caller holds
// Pool.mu.
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
			lists[i].Focus = s.settings.Focus && m.client.Only == ""
		}
		made = &merged{numbers: numbers, catalog: sync.OnceValue(func() *catalog.Catalog { return catalog.Merge(lists, names) })}
		f.merged[string(key)] = made
	}
	made.used = f.version
	return made
}

// forgetMerged makes space for another catalog. It drops catalogs of outdated lists, else the least
// recently used one (LRU). The caller holds Pool.mu.
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

// listInfo combines the caching hints of the servers' lists. The caller holds Pool.mu.
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
