package auth

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"secateur/internal/access"
)

// Recognize is Authenticate for a caller whom another replica has let in: the holder of a token has to be one here too, and is who that token says; nil where
// it is not. Other credentials were checked there against what replicas share.
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

// ReplicaName is the name (SNI) for which another replica asks when it connects. A listener that demands certificates of clients takes its own
// from it: who can show that has this program's key.
const ReplicaName = "replica.secateur.invalid"

// forReplicas is what a listener that demands certificates of clients asks of another replica.
func forReplicas(clients *tls.Config) *tls.Config {
	config := clients.Clone()
	own := config.Certificates[0].Certificate[0]
	config.ClientAuth, config.ClientCAs = tls.RequireAnyClientCert, nil
	config.SessionTicketsDisabled = true // such a connection is never taken up as a client's
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, own) {
			return errors.New("not the certificate of a replica")
		}
		return nil
	}
	return config
}

// IsReplica reports whether a request came over a connection that was let in as another replica's. It says nothing of who asks, and is good for what
// replicas hand over alone.
func IsReplica(r *http.Request) bool {
	return r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && len(r.TLS.VerifiedChains) == 0
}
