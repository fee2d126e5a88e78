package auth

import "crypto/tls"

// Leaf is the certificate that the listener shows now, DER; nil where there is none.
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

// Own is that certificate with its key, to be shown to other replicas; nil where there is none.
func (c *Certificates) Own() *tls.Certificate {
	if c == nil {
		return nil
	}
	return &c.current().config.Certificates[0]
}
