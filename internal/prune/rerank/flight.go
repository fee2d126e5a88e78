package rerank

import (
	"context"
	"errors"
	"slices"
	"time"
)

// maxUnderWay limits the concurrent requests; further ones wait.
const maxUnderWay = 16

// flight is one request in flight with its waiters (singleflight with a refcount).
type flight struct {
	done   chan struct{} // closed when result and err are set
	result Result
	err    error

	cancel  context.CancelFunc
	waiters int // guarded by the client's lock; the last to leave cancels the request
}

// join waits for a flight in which the caller is counted. Leaving does not affect the others.
func (c *Client) join(ctx context.Context, f *flight) (Result, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		c.leave(f)
		select {
		case <-f.done: // just in time
		default:
			return Result{}, c.fail(KindHTTP, 0, context.Cause(ctx))
		}
	}
	if f.err != nil && ctx.Err() != nil && errors.Is(f.err, context.Canceled) {
		// It ended because this caller left, so report the caller's reason.
		return Result{}, c.fail(KindHTTP, 0, context.Cause(ctx))
	}
	if f.err != nil {
		return Result{}, f.err
	}
	result := f.result
	result.Scores = slices.Clone(result.Scores) // shared with the cache and the other waiters
	return result, nil
}

func (c *Client) leave(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters == 0 {
		f.cancel()
	}
}

// fly asks the backend and wakes all waiters.
func (c *Client) fly(ctx context.Context, k key, f *flight, query string, docs []string) {
	defer f.cancel()
	var o outcome
	select {
	case c.slots <- struct{}{}:
		start := time.Now()
		f.result, f.err = c.ask(ctx, query, docs)
		o = judge(f.err, time.Since(start), c.settings.DeepInfraTimeout)
		<-c.slots
	case <-ctx.Done():
		f.err = c.fail(KindHTTP, 0, context.Cause(ctx))
		o = unclear
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if f.err == nil {
		c.cache.put(k, f.result.Scores, now)
	}
	if c.flights[k] == f {
		delete(c.flights, k)
	}
	opened, closed := c.breaker.done(o, now)
	close(f.done)
	switch {
	case opened:
		c.log.WarnContext(ctx, "reranker does not answer and is left alone for a while",
			"backend", c.backend, "for_s", coolDown.Seconds())
	case closed:
		c.log.InfoContext(ctx, "reranker answers again", "backend", c.backend)
	}
}

// judge derives the backend's state from a call.
func judge(err error, waited, timeout time.Duration) outcome {
	e, failed := err.(*Error) //nolint:errorlint // ask returns nothing else
	switch {
	case !failed || e.Status != 0:
		return answered
	case wasCut(e) && waited < min(tellingWait, timeout):
		return unclear
	default:
		return silent
	}
}
