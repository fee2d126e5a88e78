package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"secateur/internal/mcp/buffer"
)

// poster is the common part of the HTTP links. Messages are sent as POSTs, and the link ends once,
// with a reason.
type poster struct {
	s        *connection
	endpoint *endpoint
	work     workers
	posts    chan struct{} // holds a token for each message in flight without a waiting caller
	ended    chan struct{}

	ending sync.Mutex
	why    error // guarded by ending; why the link has ended
}

const (
	maxPosts    = 256
	postTimeout = 10 * time.Second
)

func newPoster(s *connection) poster {
	address, _ := url.Parse(s.u.opt.Settings.URL) // Validate has parsed it
	return poster{
		s: s, endpoint: newEndpoint(s.u, address), posts: make(chan struct{}, maxPosts), ended: make(chan struct{}),
	}
}

// reason waits until the link has ended and returns why.
func (p *poster) reason() error {
	<-p.ended
	p.ending.Lock()
	defer p.ending.Unlock()
	return p.why
}

// end marks the link as unusable.
func (p *poster) end(why error) {
	p.ending.Lock()
	defer p.ending.Unlock()
	if p.why == nil {
		p.why = why
		close(p.ended)
	}
}

// away delivers a message in the background.
func (p *poster) away(ctx context.Context, m outgoing, deliver func(context.Context, outgoing) error) error {
	select {
	case p.posts <- struct{}{}:
	default:
		return errors.New("too many messages are on their way")
	}
	ok := p.work.run(func() {
		defer func() { <-p.posts }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), postTimeout)
		defer cancel()
		if err := deliver(ctx, m); err != nil {
			p.s.u.log.DebugContext(ctx, "message not taken", "method", m.method, "err", err)
		}
	})
	if !ok {
		<-p.posts
		return errStopped
	}
	return nil
}

// within delivers a message and waits until the server has accepted it, up to the message's
// patience. It ignores a server's refusal of notifications/initialized: only the calls matter.
func (p *poster) within(ctx context.Context, m outgoing, deliver func(context.Context, outgoing) error) error {
	wait, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	err := deliver(wait, m)
	if failed, ok := errors.AsType[*CallError](err); ok && failed.Kind == Invalid && m.method == methodInitialized {
		p.s.u.log.DebugContext(ctx, "server does not care to be initialized", "err", err)
		return nil
	}
	return err
}

// post sends a message and waits until the server has accepted it. Any answer arrives on another
// stream.
func (p *poster) post(ctx context.Context, to *url.URL, header http.Header, message []byte) error {
	resp, err := p.endpoint.postTo(ctx, to, header, &sentBody{data: message})
	if err != nil {
		return p.s.u.transportError(err, p.endpoint.host)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := buffer.Read(resp.Body, -1, 64<<10) // only used to describe a refusal
	defer buffer.Put(body)
	if resp.StatusCode >= 300 {
		return p.endpoint.statusError(resp, body)
	}
	return nil
}

// shut ends all connections and returns when the link has no goroutines left.
func (p *poster) shut() {
	p.endpoint.close()
	p.work.close()
	p.endpoint.rt.CloseIdleConnections()
}
