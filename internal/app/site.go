package app

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"secateur/internal/lane"
)

// site is a listener and those who answer on it: usual requests are served on the shortest way, the rest by net/http.
type site struct {
	web   *http.Server
	usual *lane.Listener
}

// listenOn has a server answer on a listener, over TLS while that is configured.
func (a *App) listenOn(web *http.Server, ln net.Listener) *site {
	web.ConnState = changed
	return &site{web, lane.New(&secured{ln, a}, web)}
}

// serve answers until it is to stop.
func (s *site) serve() error {
	if err := s.web.Serve(s.usual); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// endResting closes the connections that nobody uses. The next ones are made as they are to be by then.
func (s *site) endResting() {
	s.usual.EndResting()
	s.web.SetKeepAlivesEnabled(false)
	s.web.SetKeepAlivesEnabled(true)
}

// shutdown accepts no more, and waits for what is under way.
func (s *site) shutdown(ctx context.Context) error {
	var both errgroup.Group
	both.Go(func() error { return s.usual.Shutdown(ctx) })
	both.Go(func() error { return s.web.Shutdown(ctx) })
	return both.Wait()
}

// end closes all connections.
func (s *site) end() error {
	defer s.usual.End()
	return s.web.Close()
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
