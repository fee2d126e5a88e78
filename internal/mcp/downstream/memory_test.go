package downstream_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"secateur/internal/front/datarate"
	"secateur/internal/mcp/downstream"
)

// inBubble builds a house without sockets in a synctest bubble. It is behind the guard against
// clients that do not read.
func inBubble(t *testing.T, b *brain, story func(h *house), change ...func(*downstream.HTTPOptions)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opt := options(b)
		for _, c := range change {
			c(&opt)
		}
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		h := downstream.NewHTTP(opt)
		srv := &http.Server{Handler: datarate.New(datarate.Limits{}).Handler(mux(h))}
		go func() { _ = srv.Serve(ln) }()
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.dial(ctx) }
		wires := &http.Transport{DialContext: dial}
		story(&house{t: t, HTTP: h, brain: b, url: "http://house/mcp", client: &http.Client{Transport: wires}})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = h.Close(ctx)
		_ = srv.Close()
		wires.CloseIdleConnections()
	})
}

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "house", Net: "memory"} }
