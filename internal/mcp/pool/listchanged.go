package pool

import (
	"context"
	"maps"
	"slices"
	"time"

	"secateur/internal/mcp/catalog"
)

// announce notifies members when the catalog they have seen changes.
func (f *Pool) announce(ctx context.Context) {
	for {
		select {
		case <-f.news:
		case <-ctx.Done():
			return
		}
		if !sleep(ctx, settleTime, nil) { // changes close together are reported once
			return
		}
		select {
		case <-f.news:
		default:
		}
		for _, m := range f.watching() {
			m.compare()
		}
	}
}

func (f *Pool) watching() []*Member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.watchers))
}

// TellListChanged notifies members that a server's list has changed for them, without a
// notification from the server.
func (f *Pool) TellListChanged(server string, l catalog.List) {
	for _, m := range f.watching() {
		if m.client.Only == "" || m.client.Only == server {
			m.observer.ListChanged(l)
		}
	}
}

// compare notifies a member which lists differ from those it has seen.
func (m *Member) compare() {
	for _, s := range m.servers() {
		m.acquire(s) // a server may have become ready
	}
	f := m.pool
	f.mu.Lock()
	made, seen := m.merged(), m.seen
	f.mu.Unlock()
	all := made.catalog()
	if all == seen {
		return
	}
	f.mu.Lock()
	told := !m.left && m.seen == seen // else the member has just fetched the catalog itself
	var changed []catalog.List
	if told {
		changed = m.difference(seen, all)
		m.seen = all
	}
	f.mu.Unlock()
	for _, l := range changed {
		m.observer.ListChanged(l)
	}
}

// difference returns the lists that differ between two catalogs, except those that the server has
// just announced to the member. Resources includes templates. The caller holds Pool.mu.
func (m *Member) difference(old, now *catalog.Catalog) (lists []catalog.List) {
	for _, l := range [...]catalog.List{catalog.Tools, catalog.Resources, catalog.Prompts} {
		same := now.Same(old, l) && (l != catalog.Resources || now.Same(old, catalog.Templates))
		if !same && (m.passed[l].IsZero() || time.Since(m.passed[l]) > passedFor) {
			lists = append(lists, l)
		}
	}
	return lists
}

// passedFor is how long after a server's announcement a difference counts as already announced.
const passedFor = 5 * time.Second

// alone reports whether the member sees only one server.
func (m *Member) alone() bool { return m.client.Only != "" }
