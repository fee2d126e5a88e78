package app

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
)

// serveOn serves HTTP on a listener, over TLS while that is configured.
func (a *App) serveOn(web *http.Server, ln net.Listener) error {
	l := &secured{Listener: ln, a: a}
	defer l.releaseSpare()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// secured is a listener that bounds the memory of its connections. It uses TLS if that is
// configured when a connection comes.
type secured struct {
	net.Listener
	a *App
	// A descriptor to be given up when none is left; nil: none. Only Accept uses it.
	spare *os.File
}

// Accept waits for a connection that fits into memory. The first read performs the TLS handshake.
func (l *secured) Accept() (net.Conn, error) {
	for {
		conn, err := l.accept()
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

// accept waits for a connection. If all descriptors are in use, an idle connection is closed for
// it. If there is none, the new one is closed at once: its client would wait in the backlog.
func (l *secured) accept() (net.Conn, error) {
	for {
		if l.spare == nil {
			l.holdSpare()
		}
		conn, err := l.Listener.Accept()
		if !lacksDescriptors(err) {
			return conn, err
		}
		if l.a.connections.evict() != nil {
			continue
		}
		if l.spare == nil {
			return nil, err // net/http tries again later
		}
		l.releaseSpare()
		conn, err = l.Listener.Accept()
		if l.holdSpare() || err != nil {
			return conn, err
		}
		l.a.connections.refuse(conn, "there are no file descriptors for more, and all are in use: raise the limit (ulimit -n)")
	}
}

func lacksDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// holdSpare opens the spare descriptor; false: none is left.
func (l *secured) holdSpare() bool {
	spare, err := os.Open(os.DevNull)
	if err != nil {
		return false
	}
	l.spare = spare
	return true
}

func (l *secured) releaseSpare() {
	if l.spare != nil {
		_ = l.spare.Close()
		l.spare = nil
	}
}
