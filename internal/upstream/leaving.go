package upstream

import (
	"context"
	"slices"
	"time"
)

// workContext is the context of what is done for a call, such as its POST; the returned function ends it. See leave for when
// it ends before that.
func (c *call) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c.leaving.Lock()
	c.hangUp = cancel
	gone := c.gone
	c.leaving.Unlock()
	if gone {
		cancel()
	}
	return ctx, func() {
		cancel()
		c.leaving.Lock()
		defer c.leaving.Unlock()
		c.hangUp = nil
	}
}

// leave says that nobody waits for the call any more. What is done for it ends then or, where the server has answered in a
// stream, a little later: what is left of that is read, so that its connection can be used again.
func (c *call) leave() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.gone = true
	for _, f := range c.told {
		(*f)()
	}
	c.told = nil
	switch {
	case c.hangUp == nil:
	case c.over.Load() && !c.whole.Load():
		time.AfterFunc(drainTime, c.hangUp)
	default:
		c.hangUp()
	}
}

// isGone reports whether nobody waits for the call any more: its caller has left it, or is about to.
func (c *call) isGone(caller context.Context) bool {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	return c.gone || caller.Err() != nil
}

// afterLeave has f called when nobody waits for the call any more, at once if that is so, unless stop is called before.
func (c *call) afterLeave(f func()) (stop func()) {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	if c.gone {
		f()
		return func() {}
	}
	c.told = append(c.told, &f)
	return func() {
		c.leaving.Lock()
		defer c.leaving.Unlock()
		c.told = slices.DeleteFunc(c.told, func(g *func()) bool { return g == &f })
	}
}
