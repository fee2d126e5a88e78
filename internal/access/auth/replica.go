package auth

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"secateur/internal/access"
)

// Recognize returns the local principal for a caller that another replica authenticated. The holder
// of a token must be known here too, and gets the local token's principal; otherwise it returns
// nil. Other credentials were checked there against shared state.
func (a *Authenticator) Recognize(p *access.Principal) *access.Principal {
	switch {
	case !a.Asks():
		return a.anonymous
	case p.Issuer == access.IssuerNone:
		return nil
	case p.Issuer != access.IssuerToken:
		return p
	}
	now := time.Now()
	for _, h := range *a.tokens.Load() {
		if h.principal.Is(p) && (h.expires.IsZero() || now.Before(h.expires)) {
			return h.principal
		}
	}
	return nil
}

// ReplicaName is the name (SNI) that replicas ask for when they connect to each other. A listener
// that demands client certificates then accepts its own certificate: only this program has its key.
const ReplicaName = "replica.secateur.invalid"

// forReplicas returns the TLS configuration for connections from other replicas, if the listener
// demands client certificates.
func forReplicas(clients *tls.Config) *tls.Config {
	config := clients.Clone()
	own := config.Certificates[0].Certificate[0]
	config.ClientAuth, config.ClientCAs = tls.RequireAnyClientCert, nil
	config.SessionTicketsDisabled = true // a client must never resume such a connection
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, own) {
			return errors.New("not the certificate of a replica")
		}
		return nil
	}
	return config
}

// IsReplica reports whether a request came over a connection of another replica. It does not
// identify the caller, and is valid only for requests that replicas hand over.
func IsReplica(r *http.Request) bool {
	return r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && len(r.TLS.VerifiedChains) == 0
}
