package pool

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/routing"
	"secateur/internal/rawjson"
)

// snapshot is what a server lists on a connection. It is immutable. Connections with equal lists
// share one.
type snapshot struct {
	number   uint64 // unique
	server   string
	items    [listCount][][]byte
	sums     [listCount][]byte // hashes of the items
	problems func() []catalog.Problem
	names    [listCount]func() map[string]struct{} // of tools and prompts, built on first use
}

// lists returns the lists in the form that the catalog uses.
func (s *snapshot) lists() catalog.ServerLists {
	return catalog.ServerLists{
		Server: s.server, Tools: s.items[catalog.Tools], Resources: s.items[catalog.Resources],
		Templates: s.items[catalog.Templates], Prompts: s.items[catalog.Prompts],
	}
}

// has reports whether a tool or prompt is listed.
func (s *snapshot) has(l catalog.List, name string) bool {
	if s == nil || s.names[l] == nil {
		return false
	}
	_, ok := s.names[l]()[name]
	return ok
}

// id returns the snapshot's number; 0: no snapshot.
func (s *snapshot) id() uint64 {
	if s == nil {
		return 0
	}
	return s.number
}

// same reports whether two snapshots list the same.
func (s *snapshot) same(other *snapshot) bool {
	for l := range s.sums {
		if !bytes.Equal(s.sums[l], other.sums[l]) {
			return false
		}
	}
	return true
}

// sum returns a hash over items; nil: no items.
func sum(items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	h := sha256.New()
	for _, item := range items {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(item))))
		_, _ = h.Write(item)
	}
	return h.Sum(nil)
}

// freshness says how current a list is.
type freshness struct {
	at    time.Time     // when it was fetched; zero: not yet
	ttl   time.Duration // TTL given by the server; negative: none
	scope string
}

// page is a complete list, all its pages merged.
type page struct {
	items [][]byte
	ttl   time.Duration
	scope string
}

// publish stores a fetched list and notifies the members whose lists changed.
func (c *Conn) publish(l catalog.List, p page) {
	hash := sum(p.items)
	f := c.pool
	if f.opt.Listed != nil {
		f.opt.Listed(c.ID(), l, p.items)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.fresh[l] = freshness{at: time.Now(), ttl: p.ttl, scope: p.scope}
	old := c.snapshot
	if old != nil && bytes.Equal(old.sums[l], hash) {
		return
	}
	next := &snapshot{server: c.ID()}
	if old != nil {
		next.items, next.sums = old.items, old.sums
	}
	next.items[l], next.sums[l] = p.items, hash
	c.snapshot = f.share(c.s, next)
	if c.role != private && (isClosed(c.listed) || !c.s.listed.Load()) {
		c.s.last = c.snapshot
	}
	if c.route(changeMethods[l]).To == routing.Drop {
		f.version++ // the new list counts, but members are not notified
		return
	}
	f.changed()
	if c.role != private && f.opt.Changed != nil && old != nil && old.sums[l] != nil {
		f.opt.Changed(c.ID(), l)
	}
}

// changeMethods are the notifications for changed lists.
var changeMethods = map[catalog.List]string{
	catalog.Tools: "notifications/tools/list_changed", catalog.Prompts: "notifications/prompts/list_changed",
	catalog.Resources: "notifications/resources/list_changed", catalog.Templates: "notifications/resources/list_changed",
}

// share returns an existing snapshot of the server that lists the same, or else this one with a new
// number. The caller holds Pool.mu.
func (f *Pool) share(s *server, fresh *snapshot) *snapshot {
	for _, c := range s.conns {
		if c.snapshot != nil && c.snapshot.same(fresh) {
			return c.snapshot
		}
	}
	if s.last != nil && s.last.same(fresh) {
		return s.last
	}
	f.printed++
	fresh.number = f.printed
	for _, l := range []catalog.List{catalog.Tools, catalog.Prompts} {
		fresh.names[l] = sync.OnceValue(func() map[string]struct{} {
			all := make(map[string]struct{}, len(fresh.items[l]))
			for _, item := range fresh.items[l] {
				all[rawjson.GetText(item, "name")] = struct{}{}
			}
			return all
		})
	}
	fresh.problems = sync.OnceValue(func() []catalog.Problem {
		all := []catalog.ServerLists{fresh.lists()}
		r := f.roster.Load()
		for _, other := range r.all { // whose names are reserved
			all = append(all, catalog.ServerLists{Server: other.settings.ID})
		}
		merged := catalog.Merge(all, r.names)
		return append(merged.Problems(), merged.LookAlikes()...)
	})
	return fresh
}
