package pool

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

const (
	maxPages     = 1000
	maxItems     = 100_000
	maxListBytes = 64 << 20

	settleTime = 50 * time.Millisecond  // debounce: changes within this time are one
	fetchPause = 500 * time.Millisecond // between two fetches caused by changes

	refreshAfter = 30 * time.Second // age at which an unannounced list is fetched again when needed
	refreshPause = time.Second      // minimum pause, however short the TTL
)

// listCache keeps one list of a connection up to date.
type listCache struct {
	list     catalog.List
	fetching singleflight

	mu     sync.Mutex
	began  time.Time   // guarded by mu like all below; when the last fetch was requested
	due    time.Time   // when timer fires
	timer  *time.Timer // for a scheduled fetch; nil: none
	failed upstream.Backoff
	told   uint64  // number of change announcements by the server
	runs   uint64  // number of fetches started
	taken  edition // the last successful fetch
}

// fetch fetches the list now. The channel is closed when the fetch has succeeded or failed.
func (s *listCache) fetch(c *Conn) <-chan struct{} {
	s.mu.Lock()
	s.began = time.Now()
	if s.timer != nil { // this fetch replaces the scheduled one
		s.timer.Stop()
		s.timer = nil
	}
	s.mu.Unlock()
	return s.fetching.ask(c.jobs, func(ctx context.Context) { s.update(ctx, c) })
}

// stale fetches lists because they changed. Many changes at once cause few fetches.
func (c *Conn) stale(lists ...catalog.List) {
	offers := c.offers()
	for _, l := range lists {
		s := &c.caches[l]
		s.tell()
		if offers.list(l) {
			s.fetchIn(c, max(settleTime, fetchPause-time.Since(s.lastBegan())))
		}
	}
}

func (s *listCache) lastBegan() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began
}

// fetchIn schedules a fetch, unless an earlier one is scheduled.
func (s *listCache) fetchIn(c *Conn, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := time.Now().Add(wait)
	if s.timer != nil {
		if !due.Before(s.due) {
			return
		}
		s.timer.Stop()
	}
	s.due = due
	var t *time.Timer
	t = time.AfterFunc(wait, func() {
		s.mu.Lock()
		mine := s.timer == t
		if mine {
			s.timer, s.began = nil, time.Now()
		}
		s.mu.Unlock()
		if mine && (c.isUp() || c.s.plain()) {
			s.fetch(c)
		}
	})
	s.timer = t
}

func (s *listCache) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// update fetches the list. If that fails, the last known list stays and the fetch is retried.
func (s *listCache) update(ctx context.Context, c *Conn) {
	now := s.edition(ctx, c)
	p, err := c.pages(toolserver.WithBrief(ctx, 1), s.list) // a catalog is for models
	if refused, ok := asServerError(err); ok && refused.Code == wire.CodeMethodNotFound {
		p, err = page{ttl: -1}, nil
	}
	s.mu.Lock()
	wait, grade := time.Duration(0), slog.LevelDebug
	if s.failed.Failures() == 0 {
		grade = slog.LevelWarn // warn only once
	}
	if err == nil {
		s.failed.Reset()
	} else {
		wait = s.failed.Next()
	}
	s.mu.Unlock()
	switch {
	case err == nil:
		c.publish(s.list, p)
		s.take(now, p.ttl)
	case ctx.Err() == nil:
		c.pool.log.Log(ctx, grade, "list not fetched", "server", c.ID(), "method", s.list.Method(), "err", err)
		if !c.s.plain() { // a plain server is asked again when needed
			s.fetchIn(c, wait)
		}
	}
}

// pages fetches all pages of a list.
func (c *Conn) pages(ctx context.Context, l catalog.List) (page, error) {
	all := page{ttl: -1}
	size := 0
	var params []byte
	seen := map[string]bool{}
	for n := 1; ; n++ {
		result, err := c.ask(ctx, l.Method(), params)
		if err != nil {
			return page{}, err
		}
		one, err := catalog.ReadPage(l, result)
		if err != nil {
			return page{}, fmt.Errorf("server %q: %w", c.ID(), err)
		}
		all.add(one, n == 1)
		size += len(result)
		if size > maxListBytes || len(all.items) > maxItems {
			return page{}, fmt.Errorf("server %q: %s: the list is too long", c.ID(), l.Method())
		}
		if !one.More {
			return all, nil
		}
		if seen[one.Next] || n == maxPages {
			c.pool.log.WarnContext(ctx, "list has no end", "server", c.ID(), "method", l.Method(), "pages", n)
			return all, nil
		}
		seen[one.Next] = true
		params = append(rawjson.AppendQuoted([]byte(`{"cursor":`), one.Next), '}')
	}
}

// add appends a page. The whole list gets the shortest TTL of its pages, and a scope only if all
// pages agree.
func (p *page) add(one catalog.ServerPage, first bool) {
	p.items = append(p.items, one.Items...)
	ttl := time.Duration(-1)
	if one.TTLMillis >= 0 {
		ttl = time.Duration(min(one.TTLMillis, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	if first {
		p.ttl, p.scope = ttl, one.Scope
		return
	}
	p.ttl = min(p.ttl, ttl)
	if p.scope != one.Scope {
		p.scope = ""
	}
}

// refresh fetches expired lists whose changes the server does not announce. The caller holds
// Pool.mu.
func (c *Conn) refresh() {
	offers := c.offers()
	for l := range c.caches {
		if s := &c.caches[l]; offers.list(s.list) && !c.announces(offers, s.list) && c.fresh[l].old(s.lastBegan()) {
			s.fetchIn(c, 0)
		}
	}
}

// old reports whether a list that was last tried at this time should be fetched again.
func (f freshness) old(tried time.Time) bool {
	limit := refreshAfter
	if !f.at.IsZero() && f.ttl >= 0 {
		limit = max(f.ttl, refreshPause)
	}
	return !tried.IsZero() && time.Since(tried) > limit
}

// announces reports whether the server notifies us when a list changes.
func (c *Conn) announces(o offers, l catalog.List) bool {
	return o.announced(l) && (eraOf(c.peer.Load()) == era.Legacy || c.listens.isHeard())
}
