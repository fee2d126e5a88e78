package upstream

import (
	"context"
	"slices"
	"time"
)

// beginWork gives the context of what is done for a call, such as its POST, which has the values of another and lasts until endWork. See
// leave for when it ends before that.
func (c *call) beginWork(values context.Context) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(values))
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.cancelWork = cancel
	if c.gone {
		cancel()
	}
	return ctx
}

// endWork says that nothing more is done for a call.
func (c *call) endWork() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.cancelWork()
	c.cancelWork = nil
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
	case c.cancelWork == nil:
	case c.over.Load() && !c.whole.Load():
		time.AfterFunc(drainTime, c.cancelWork)
	default:
		c.cancelWork()
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
