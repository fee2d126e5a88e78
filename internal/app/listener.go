package app

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
)

// serveOn serves HTTP on a listener, over TLS while that is configured.
func (a *App) serveOn(web *http.Server, ln net.Listener) error {
	if err := web.Serve(&secured{ln, a}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// secured is a listener that bounds the memory of its connections. It uses TLS if that is
// configured when a connection comes.
type secured struct {
	net.Listener
	a *App
}

// Accept waits for a connection that fits into memory. The first read performs the TLS handshake.
func (l *secured) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if gen := l.a.live.Load(); gen != nil && gen.certificates != nil {
			if counted, ok := l.a.connections.admit(conn, tlsConnectionBytes); ok {
				return tls.Server(counted, gen.certificates.Config()), nil
			}
			continue
		}
		if counted, ok := l.a.connections.admit(conn, connectionBytes); ok {
			return counted, nil
		}
	}
}
