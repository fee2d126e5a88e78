package auth

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"secateur/internal/access"
)

// Certificates holds the files of [tls], and reads them again when they change.
type Certificates struct {
	set  TLS
	warn func(error)

	mu     sync.Mutex // guards the fields below
	read   certificates
	marks  [4]mark
	looked time.Time
}

// certificates is a snapshot of the files' contents.
type certificates struct {
	config *tls.Config
	roots  map[string]bool // certificates of client_ca, by their bytes
}

// lookEvery is the minimum interval between two checks of the files.
const lookEvery = time.Second

// LoadCertificates reads the files. warn receives the error of a failed reload; the previous
// contents then stay in use.
func LoadCertificates(set TLS, warn func(error)) (*Certificates, error) {
	c := &Certificates{set: set, warn: warn, looked: time.Now()}
	c.marks = c.stat()
	var err error
	c.read, err = c.load()
	return c, err
}

// Config returns the TLS configuration of a listener.
func (c *Certificates) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			now := c.current()
			if hello != nil && hello.ServerName == ReplicaName && now.config.ClientAuth == tls.RequireAndVerifyClientCert {
				return forReplicas(now.config), nil
			}
			return now.config, nil
		},
	}
}

func (c *Certificates) current() certificates {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return c.read
	}
	c.looked = time.Now()
	if marks := c.stat(); marks != c.marks {
		read, err := c.load()
		if err != nil {
			c.warn(err)
			return c.read // probably half a change: the other file follows
		}
		c.read, c.marks = read, marks
	}
	return c.read
}

func (c *Certificates) stat() (marks [4]mark) {
	for i, name := range []string{c.set.Cert, c.set.Key, c.set.ClientCA, c.set.ClientCRL} {
		if name != "" {
			marks[i] = TokenFile{name}.mark()
		}
	}
	return marks
}

func (c *Certificates) load() (certificates, error) {
	own, err := tls.LoadX509KeyPair(c.set.Cert, c.set.Key)
	if err != nil {
		return certificates{}, fmt.Errorf("tls: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{own}}
	if c.set.ClientCA == "" {
		return certificates{config: config}, nil
	}
	ca, err := os.ReadFile(c.set.ClientCA)
	if err != nil {
		return certificates{}, fmt.Errorf("tls.client_ca: %w", err)
	}
	roots := map[string]bool{}
	for block, rest := pem.Decode(ca); block != nil; block, rest = pem.Decode(rest) {
		roots[string(block.Bytes)] = true
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(ca) {
		return certificates{}, errors.New("tls.client_ca: no certificate in it")
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if c.set.ClientAuth == ClientRequired {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if c.set.ClientCRL == "" {
		return certificates{config, roots}, nil
	}
	revoked, err := readCRL(c.set.ClientCRL, ca)
	if err != nil {
		return certificates{}, fmt.Errorf("tls.client_crl: %w", err)
	}
	// A resumed connection skips VerifyPeerCertificate, so use VerifyConnection.
	config.VerifyConnection = func(state tls.ConnectionState) error {
		for _, cert := range state.PeerCertificates {
			if revoked[string(cert.RawIssuer)+cert.SerialNumber.String()] {
				return errors.New("the certificate has been revoked")
			}
		}
		return nil
	}
	return certificates{config, roots}, nil
}

// readCRL returns the certificates revoked by a list that one of the CAs signed.
func readCRL(name string, ca []byte) (map[string]bool, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	revoked := map[string]bool{}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		list, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !signedByOne(list, ca) {
			return nil, errors.New("not signed by a certificate of client_ca")
		}
		for _, entry := range list.RevokedCertificateEntries {
			revoked[string(list.RawIssuer)+entry.SerialNumber.String()] = true
		}
	}
	return revoked, nil
}

func signedByOne(list *x509.RevocationList, ca []byte) bool {
	for block, rest := pem.Decode(ca); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && list.CheckSignatureFrom(cert) == nil {
			return true
		}
	}
	return false
}

// Revoked reports whether a connection's client certificate was revoked after the handshake, or its
// authority is no longer trusted.
func (c *Certificates) Revoked(state *tls.ConnectionState) bool {
	if c == nil || state == nil {
		return false
	}
	now := c.current()
	if verify := now.config.VerifyConnection; verify != nil && verify(*state) != nil {
		return true
	}
	return !slices.ContainsFunc(state.VerifiedChains, func(chain []*x509.Certificate) bool { return now.roots[string(chain[len(chain)-1].Raw)] })
}

// checkCertificate returns the principal of a verified certificate, from the first row that matches
// one of its names.
func (a *Authenticator) checkCertificate(state *tls.ConnectionState) (*access.Principal, access.Cause) {
	if a.opt.Certificates.Revoked(state) {
		return nil, access.CauseInvalid
	}
	cert := state.PeerCertificates[0]
	if !time.Now().Before(cert.NotAfter) { // it was valid at the handshake
		return nil, access.CauseExpired
	}
	var names []string
	for _, u := range cert.URIs {
		names = append(names, u.String())
	}
	names = append(append(names, cert.DNSNames...), cert.EmailAddresses...)
	for _, row := range a.opt.Settings.Certificates {
		for _, name := range names {
			if row.SAN.Match(name) {
				p := principal(access.IssuerMTLS, name, row.Tenant, row.Roles)
				p.Expires = cert.NotAfter.Unix()
				return p, ""
			}
		}
	}
	return nil, access.CauseInvalid
}
