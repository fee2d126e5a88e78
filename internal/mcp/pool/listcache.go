package pool

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

const (
	maxPages     = 1000
	maxItems     = 100_000
	maxListBytes = 64 << 20

	settleTime = 50 * time.Millisecond  // changes that come close together are one
	fetchPause = 500 * time.Millisecond // between two fetches because of changes

	refreshAfter = 30 * time.Second // a list whose changes nobody tells is fetched again, when it is wanted
	refreshPause = time.Second      // however short its time to live
)

// listCache keeps one list of a connection up to date.
type listCache struct {
	list     catalog.List
	fetching singleflight

	mu     sync.Mutex
	began  time.Time   // when the last fetch was asked for
	due    time.Time   // when timer fires
	timer  *time.Timer // for a fetch that waits its time; nil: there is none
	failed upstream.Backoff
	told   uint64  // how often the server has said that the list is another
	runs   uint64  // how often it was begun to be fetched
	taken  edition // what was last fetched well
}

// fetch has the list fetched now. The channel is closed when that is done, well or not.
func (s *listCache) fetch(c *Conn) <-chan struct{} {
	s.mu.Lock()
	s.began = time.Now()
	if s.timer != nil { // whatever it was to fetch is fetched by this
		s.timer.Stop()
		s.timer = nil
	}
	s.mu.Unlock()
	return s.fetching.ask(c.jobs, func(ctx context.Context) { s.update(ctx, c) })
}

// stale has lists fetched because they changed; changes that come many at a time cost few fetches.
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

// fetchIn has the list fetched after a while, unless it will be sooner.
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

// update fetches the list. One that cannot be had stays as it was last known, and is tried again.
func (s *listCache) update(ctx context.Context, c *Conn) {
	now := s.edition(ctx, c)
	p, err := c.pages(ctx, s.list)
	if refused, ok := asServerError(err); ok && refused.Code == wire.CodeMethodNotFound {
		p, err = page{ttl: -1}, nil
	}
	s.mu.Lock()
	wait, grade := time.Duration(0), slog.LevelDebug
	if s.failed.Failures() == 0 {
		grade = slog.LevelWarn // once is enough
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
		if !c.s.plain() { // which is asked again when somebody wants to know
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

// add appends a page. The whole may be kept as long as the page that may be kept shortest, by whom all may be.
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

// refresh has lists fetched anew that have grown old, because nobody tells when they change. The pool is locked.
func (c *Conn) refresh() {
	offers := c.offers()
	for l := range c.caches {
		if s := &c.caches[l]; offers.list(s.list) && !c.announces(offers, s.list) && c.fresh[l].old(s.lastBegan()) {
			s.fetchIn(c, 0)
		}
	}
}

// old reports whether a list should be fetched again, that was last tried to be at some time.
func (f freshness) old(tried time.Time) bool {
	limit := refreshAfter
	if !f.at.IsZero() && f.ttl >= 0 {
		limit = max(f.ttl, refreshPause)
	}
	return !tried.IsZero() && time.Since(tried) > limit
}

// announces reports whether we hear when a list changes.
func (c *Conn) announces(o offers, l catalog.List) bool {
	return o.announced(l) && (eraOf(c.peer.Load()) == era.Legacy || c.listens.isHeard())
}
