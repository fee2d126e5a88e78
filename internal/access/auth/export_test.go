package auth

import (
	"context"
	"time"
)

// Wait has signatures wait for the store for as long as it takes.
func (a *Authenticator) Wait() { a.noncePatience = time.Minute }

// LookAgain is what Follow does every second.
func (a *Authenticator) LookAgain(ctx context.Context) { a.follow(ctx) }

// LookNow makes the next handshake look at the files, however short ago the last one did.
func (c *Certificates) LookNow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = time.Time{}
}
