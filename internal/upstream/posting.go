package upstream

import "context"

// While the caller's goroutine posts its call it cannot wait for anything else. Until it is back, others do in its place what
// it does when it waits: they end the POST where its time is over or the answer came another way, and give its handler
// what the server sends meanwhile on another stream.

// beginPost marks the caller's goroutine as busy until endPost. The helpers do in its place what it cannot.
func (c *call) beginPost(caller context.Context, helpers *workers) {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.absent, c.helpers = caller, helpers
	if c.related != nil && len(c.related.ready) > 0 { // it came before the call was sent
		c.help() //nolint:contextcheck // it has the caller's
	}
}

func (c *call) endPost() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.absent, c.helpers = nil, nil
}

// help has what is in the mailbox served. With leaving held, while the caller's goroutine is busy.
func (c *call) help() {
	caller := c.absent
	c.helpers.run(func() { c.serveRelated(caller) })
}

// interrupt calls the caller's goroutine back from its POST.
func (c *call) interrupt() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	if c.helpers != nil && c.hangUp != nil {
		c.stopped = true
		c.hangUp()
	}
}

// arrived has what is in the mailbox served if the caller's goroutine is busy.
func (c *call) arrived() {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	if c.helpers != nil {
		c.help()
	}
}

// serveRelated gives the handler the notifications that have come, in order, as long as somebody waits for the call.
func (c *call) serveRelated(ctx context.Context) {
	if c.related == nil {
		return
	}
	c.serving.Lock()
	defer c.serving.Unlock()
	if c.gone { // changed with serving held
		return
	}
	for _, m := range c.related.take() {
		c.handler.Serve(ctx, m)
	}
}
