package redisdb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// tlsFiles are the parameters of a rediss:// URL that name files: whom to trust beside the system's authorities, and what to show.
type tlsFiles struct{ ca, cert, key string }

// takeTLSFiles takes these parameters out of a URL.
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

// tlsSessions is how many are remembered: some of each node.
const tlsSessions = 64

// apply reads the files.
func (f tlsFiles) apply(c *tls.Config) error {
	if c == nil {
		return nil
	}
	c.MinVersion = tls.VersionTLS12
	c.ClientSessionCache = tls.NewLRUClientSessionCache(tlsSessions) // a connection of the pool that is made anew resumes a session
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
