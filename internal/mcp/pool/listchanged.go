package pool

import (
	"context"
	"maps"
	"slices"
	"time"

	"secateur/internal/mcp/catalog"
)

// announce tells members that what they have seen is not true any more.
func (f *Pool) announce(ctx context.Context) {
	for {
		select {
		case <-f.news:
		case <-ctx.Done():
			return
		}
		if !sleep(ctx, settleTime, nil) { // what comes close together is told at once
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

// TellListChanged tells members that a list of a server is another for them, though the server has said nothing.
func (f *Pool) TellListChanged(server string, l catalog.List) {
	for _, m := range f.watching() {
		if m.client.Only == "" || m.client.Only == server {
			m.observer.ListChanged(l)
		}
	}
}

// compare tells a member which lists are others than it has seen.
func (m *Member) compare() {
	for _, s := range m.servers() {
		m.acquire(s) // a server that is there at last
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
	told := !m.left && m.seen == seen // else it has just asked itself
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

// difference are the lists that are others in one catalog than in another, but for those that the member has just heard
// of from its server. Resources stands for templates too. The pool is locked.
func (m *Member) difference(old, now *catalog.Catalog) (lists []catalog.List) {
	for _, l := range [...]catalog.List{catalog.Tools, catalog.Resources, catalog.Prompts} {
		same := now.Same(old, l) && (l != catalog.Resources || now.Same(old, catalog.Templates))
		if !same && (m.passed[l].IsZero() || time.Since(m.passed[l]) > passedFor) {
			lists = append(lists, l)
		}
	}
	return lists
}

// passedFor is how long after a server's own word a difference is what it spoke of.
const passedFor = 5 * time.Second

// alone reports whether the member sees one server and nothing else.
func (m *Member) alone() bool { return m.client.Only != "" }
