package redisdb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// tlsFiles are the parameters of a rediss:// URL that name files: additional authorities, and our
// client certificate.
type tlsFiles struct{ ca, cert, key string }

// takeTLSFiles removes these parameters from a URL.
func takeTLSFiles(u *url.URL) (f tlsFiles, err error) {
	q := u.Query()
	for name, to := range map[string]*string{"tls_ca": &f.ca, "tls_cert": &f.cert, "tls_key": &f.key} {
		*to = q.Get(name)
		q.Del(name)
	}
	if f == (tlsFiles{}) {
		return f, nil
	}
	if u.Scheme != "rediss" {
		return f, errors.New("tls_ca, tls_cert and tls_key belong to rediss://")
	}
	if (f.cert == "") != (f.key == "") {
		return f, errors.New("tls_cert and tls_key belong together")
	}
	u.RawQuery = q.Encode()
	return f, nil
}

// tlsSessions is the size of the TLS session cache: several per node.
const tlsSessions = 64

// apply reads the files.
func (f tlsFiles) apply(c *tls.Config) error {
	if c == nil {
		return nil
	}
	c.MinVersion = tls.VersionTLS12
	// new pool connections resume a session
	c.ClientSessionCache = tls.NewLRUClientSessionCache(tlsSessions)
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return fmt.Errorf("tls_ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("tls_ca: %s holds no certificate", f.ca)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return fmt.Errorf("tls_cert, tls_key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return nil
}
