package upstream

import (
	"context"
	"slices"
	"time"
)

// beginWork returns the context for work on a call, such as its POST. It has the values of another
// context and lasts until endWork, or until leave ends it earlier.
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

// endWork marks the end of the work on a call.
func (c *call) endWork() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.cancelWork()
	c.cancelWork = nil
}

// leave marks that the caller no longer waits. Work on the call ends now. If the server answered in
// a stream, it ends a little later: the rest is read so that the connection can be reused.
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

// isGone reports whether the caller no longer waits, or is about to leave.
func (c *call) isGone(caller context.Context) bool {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	return c.gone || caller.Err() != nil
}

// afterLeave runs f when the caller leaves, immediately if it has left, unless stop is called
// first.
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
