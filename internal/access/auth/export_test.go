package auth

import (
	"context"
	"time"
)

// Wait gives the nonce store more time.
func (a *Authenticator) Wait() { a.noncePatience = time.Minute }

// LookAgain does what Follow does every second.
func (a *Authenticator) LookAgain(ctx context.Context) { a.follow(ctx) }

// LookNow makes the next handshake check the files, however recent the last check.
func (c *Certificates) LookNow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = time.Time{}
}
