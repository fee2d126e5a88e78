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

// secured is a listener whose connections are over TLS if that is configured when they come, and take no more memory than they may.
type secured struct {
	net.Listener
	a *App
}

// Accept waits for a connection that there is room for. Its handshake is made by whoever reads from it first.
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
