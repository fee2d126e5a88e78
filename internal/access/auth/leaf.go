package auth

import "crypto/tls"

// Leaf returns the listener's current certificate in DER, or nil.
func (c *Certificates) Leaf() []byte {
	if c == nil {
		return nil
	}
	shown := c.current().config.Certificates
	if len(shown) == 0 || len(shown[0].Certificate) == 0 {
		return nil
	}
	return shown[0].Certificate[0]
}

// Own returns the listener's certificate with its key, for connections to other replicas, or nil.
func (c *Certificates) Own() *tls.Certificate {
	if c == nil {
		return nil
	}
	return &c.current().config.Certificates[0]
}
