// Roots: protocol revisions 2024-11-05 to 2025-11-25, client features, roots/list.

package pool

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

const (
	methodRoots  = "roots/list"
	rootsChanged = "notifications/roots/list_changed"

	maxRoots = 64 << 10 // maximum size of a client's roots in bytes
	// how long after a client joins a request for roots waits for its roots
	rootsTime = 2 * time.Second
)

// root is one root of a client.
type root struct {
	uri string
	raw []byte
}

// SetRoots stores the client's answer to roots/list; nil: none. A server that asks outside any call
// gets the roots of all members on its connection. Servers that asked before are notified of the
// change.
func (m *Member) SetRoots(result []byte) {
	roots := readRoots(result)
	f := m.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	same := slices.EqualFunc(m.roots, roots, func(a, b root) bool { return string(a.raw) == string(b.raw) })
	m.roots = roots
	if !m.rootsKnown {
		m.rootsKnown = true
		close(m.rootsCame)
	}
	if m.left || same {
		return
	}
	for i := range m.leases {
		if c := m.leases[i].conn; c != nil {
			c.rootsChanged()
		}
	}
}

// Roots returns the client's roots as the result of a roots/list; false if the client has not
// reported any yet.
func (m *Member) Roots() ([]byte, bool) {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return rootsResult(m.roots), m.rootsKnown
}

// readRoots copies the roots out of a result. It skips entries without a URI.
func readRoots(result []byte) (roots []root) {
	var said struct {
		Roots []jsontext.Value `json:"roots"`
	}
	if len(result) > maxRoots || json.Unmarshal(result, &said, lenient()) != nil {
		return nil
	}
	for _, raw := range said.Roots {
		var r struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(raw, &r, lenient()) == nil && r.URI != "" {
			roots = append(roots, root{r.URI, raw.Clone()})
		}
	}
	return roots
}

// rootsResult returns the result of a roots/list. Of roots with the same URI, the first counts.
func rootsResult(roots []root) []byte {
	b := []byte(`{"roots":[`)
	seen := map[string]bool{}
	for _, r := range roots {
		if seen[r.uri] {
			continue
		}
		if len(seen) > 0 {
			b = append(b, ',')
		}
		seen[r.uri] = true
		b = append(b, r.raw...)
	}
	return append(b, "]}"...)
}

// listRoots answers a server's roots request outside any call with the roots of all members, in the
// order they joined.
func (c *Conn) listRoots(ctx context.Context, req *wire.Message) []byte {
	c.askedRoots.Store(true)
	members := c.fanout.rooted()
	for _, m := range members {
		m.pause(ctx, rootsTime-time.Since(m.joined), m.rootsCame)
	}
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	var all []root
	for _, m := range members {
		all = append(all, m.roots...)
	}
	return wire.AppendResult(nil, req.ID, rootsResult(all))
}

// rooted returns the members that declare roots, in the order they joined.
func (a *fanout) rooted() []*Member {
	found := a.those(func(m *Member) bool { return era.Declares(m.client.Capabilities, methodRoots, nil) })
	slices.SortFunc(found, func(x, y *Member) int { return cmp.Compare(x.number, y.number) })
	return found
}

// rootsChanged notifies a server that has requested roots that they changed.
func (c *Conn) rootsChanged() {
	if c.askedRoots.Load() && c.speaks(era.Legacy) {
		c.rooting.ask(c.jobs, c.tellRoots)
	}
}

func (c *Conn) tellRoots(ctx context.Context) {
	if !sleep(ctx, settleTime, nil) { // clients often join several at a time
		return
	}
	n := wire.NewNotification(rootsChanged, nil)
	if err := c.up.Notify(ctx, &n); err != nil {
		c.pool.log.DebugContext(ctx, "change of roots not told", "server", c.ID(), "err", err)
	}
}
