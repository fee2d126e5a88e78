package rerank

import (
	"container/list"
	"time"
)

// cache keeps the newest responses for a while. The caller holds the lock.
type cache struct {
	ttl   time.Duration
	max   int
	byKey map[key]*list.Element
	order list.List // of cached, oldest first; with a single ttl that is also the order of expiry
}

type cached struct {
	key     key
	scores  []float64
	expires time.Time
}

func newCache(ttl time.Duration, maxEntries int) *cache {
	return &cache{ttl: ttl, max: maxEntries, byKey: map[key]*list.Element{}}
}

func (c *cache) get(k key, now time.Time) ([]float64, bool) {
	c.dropExpired(now)
	e, ok := c.byKey[k]
	if !ok {
		return nil, false
	}
	return e.Value.(*cached).scores, true
}

func (c *cache) put(k key, scores []float64, now time.Time) {
	if c.ttl <= 0 || c.max <= 0 {
		return
	}
	c.dropExpired(now)
	if e, ok := c.byKey[k]; ok {
		c.drop(e)
	}
	if c.order.Len() >= c.max {
		c.drop(c.order.Front())
	}
	c.byKey[k] = c.order.PushBack(&cached{k, scores, now.Add(c.ttl)})
}

func (c *cache) dropExpired(now time.Time) {
	for e := c.order.Front(); e != nil && !now.Before(e.Value.(*cached).expires); e = c.order.Front() {
		c.drop(e)
	}
}

func (c *cache) drop(e *list.Element) {
	delete(c.byKey, e.Value.(*cached).key)
	c.order.Remove(e)
}
