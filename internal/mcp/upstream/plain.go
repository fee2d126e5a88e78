package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// plain is a server that takes each message as one POST, with the caller's bytes and id. It has no
// handshake and no session.
type plain struct {
	u        *Upstream
	endpoint *endpoint
	health   atomic.Pointer[plainHealth]
	name     learnt
}

// plainHealth is the health according to the last call. It is replaced only when it changes.
type plainHealth struct {
	state     State
	since     time.Time
	lastError string
}

func newPlain(u *Upstream) *plain {
	address, _ := url.Parse(u.opt.Settings.URL) // Validate has parsed it
	if !strings.HasSuffix(address.Path, "/rpc") {
		if address.Path == "" {
			address.Path = "/" // JoinPath would omit the slash
		}
		address = address.JoinPath("rpc")
	}
	p := &plain{u: u, endpoint: newEndpoint(u, address)}
	p.name.asking = make(chan struct{}, 1)
	p.endpoint.header.Set("Content-Type", "application/json")
	p.endpoint.header.Set("Accept", "application/json")
	p.health.Store(&plainHealth{state: Ready, since: time.Now()})
	return p
}

// run waits for ctx; nothing has to be kept alive.
func (p *plain) run(ctx context.Context) {
	<-ctx.Done()
	p.note(Stopped, "")
	p.endpoint.close()
	p.u.admission.drain()
	p.endpoint.rt.CloseIdleConnections()
}

func (p *plain) status() Status {
	h := p.health.Load()
	s := Status{State: h.state, Since: h.since, LastError: h.lastError}
	if peer := p.name.known.Load(); peer != nil {
		s.ServerName, s.Protocol, s.Era = peer.ServerName, peer.Protocol, peer.Era
	}
	return s
}

// note records a change of state. Stopped is final.
func (p *plain) note(state State, lastError string) {
	for {
		old := p.health.Load()
		if old.state == state && (lastError == "" || old.lastError == lastError) || old.state == Stopped {
			return
		}
		h := &plainHealth{state: state, since: old.since, lastError: lastError}
		if h.lastError == "" {
			h.lastError = old.lastError
		}
		if h.state != old.state {
			h.since = time.Now()
		}
		if p.health.CompareAndSwap(old, h) {
			if p.u.opt.Changed != nil && h.state != old.state {
				p.u.opt.Changed(Status{ID: p.u.ID(), State: h.state, Since: h.since, LastError: h.lastError})
			}
			return
		}
	}
}

func (p *plain) call(caller context.Context, req *wire.Message, opt CallOptions) (*Reply, error) {
	if p.health.Load().state == Stopped {
		return nil, p.u.errorf(Unavailable, "it is stopped")
	}
	ctx := caller
	if !opt.Patient {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(caller, p.u.timeout())
		defer cancel()
	}
	reply, err := p.roundTrip(caller, ctx, req)
	switch failed := (*CallError)(nil); {
	case err == nil:
		p.note(Ready, "")
	case !errors.As(err, &failed): // the caller left
	case failed.Kind == Unavailable:
		p.note(Down, failed.Message)
	default:
		p.note(Degraded, failed.Message)
	}
	return reply, err
}

// roundTrip posts a request and reads its answer while ctx lasts. ctx is caller or ends before it.
func (p *plain) roundTrip(caller, ctx context.Context, req *wire.Message) (*Reply, error) {
	body := &sentBody{data: req.Raw}
	defer body.detach()
	resp, err := p.endpoint.post(ctx, p.endpoint.header, body)
	if err != nil {
		return nil, p.failure(caller, ctx, p.u.transportError(err, p.endpoint.host))
	}
	defer func() { _ = resp.Body.Close() }()
	closeDelimited := resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
	r, err := p.endpoint.reader(resp)
	if err != nil {
		return nil, err
	}
	buf, err := p.endpoint.sizes.ReadBehind(0, budget.From(caller).Reader(r), resp.ContentLength, p.u.maxMessage())
	if err != nil {
		buffer.Put(buf)
		return nil, p.failure(caller, ctx, p.endpoint.bodyError(err, resp))
	}
	reply, err := p.answer(req.ID, resp, buf, closeDelimited)
	if err != nil {
		buffer.Put(buf)
		return nil, err
	}
	return reply, nil
}

// failure distinguishes our own deadline and a caller that left from a failure of the server.
func (p *plain) failure(caller, ctx context.Context, failed *CallError) error {
	switch {
	case caller.Err() != nil:
		return caller.Err()
	case ctx.Err() != nil:
		return p.u.timeoutError(p.u.timeout())
	case p.health.Load().state == Stopped:
		return p.u.errorf(Unavailable, "it was stopped")
	}
	return failed
}

// answer evaluates the response to the request with this id. An error status does not matter if the
// content is an answer.
func (p *plain) answer(id wire.ID, resp *http.Response, buf []byte, closeDelimited bool) (*Reply, error) {
	msg, err := p.u.parse(buf)
	switch {
	case err == nil && msg.Kind() == wire.Response && msg.ID.Same(id):
		return &Reply{Message: msg, HTTPStatus: resp.StatusCode, buffer: buf}, nil
	case resp.StatusCode >= 300:
		return nil, p.endpoint.statusError(resp, buf)
	case err == nil:
		return nil, p.mismatch(resp, &msg)
	case closeDelimited && len(buf) > 0 && isCutShort(err):
		return nil, p.u.transportError(io.ErrUnexpectedEOF, p.endpoint.host)
	}
	failed := p.endpoint.statusError(resp, buf)
	if syntax := (*rawjson.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Fault.IllFormed() && looksLikeJSON(buf) {
		failed = p.u.errorf(Invalid, "its answer is not valid JSON: %v", syntax)
		failed.HTTPStatus = resp.StatusCode
	}
	return nil, failed
}

// mismatch explains a JSON-RPC message that does not answer the call.
func (p *plain) mismatch(resp *http.Response, msg *wire.Message) *CallError {
	var failed *CallError
	switch {
	case msg.Kind() != wire.Response:
		failed = p.u.errorf(Invalid, "it answered with a %s of its own", msg.Kind())
	case msg.ID.IsZero():
		failed = p.u.errorf(Invalid, "it answered an error without the call's id")
	default:
		failed = p.u.errorf(Invalid, "it answered with the id of another call")
	}
	failed.HTTPStatus = resp.StatusCode
	return failed
}

// isCutShort reports whether a document is valid except that its end is missing.
func isCutShort(err error) bool {
	syntax := (*rawjson.SyntaxError)(nil)
	return errors.As(err, &syntax) && syntax.Fault == rawjson.Truncated
}

func looksLikeJSON(b []byte) bool {
	b = rawjson.Trim(b)
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// notify posts a notification and ignores the response.
func (p *plain) notify(caller context.Context, n *wire.Message) error {
	ctx, cancel := context.WithTimeout(caller, p.u.timeout())
	defer cancel()
	body := &sentBody{data: n.Raw}
	defer body.detach()
	resp, err := p.endpoint.post(ctx, p.endpoint.header, body)
	if err != nil {
		return p.failure(caller, ctx, p.u.transportError(err, p.endpoint.host))
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be reused
	_ = resp.Body.Close()
	return nil
}

// learnt caches what a plain server reported about itself.
type learnt struct {
	known atomic.Pointer[Peer]
	// holds a token while a goroutine asks; that goroutine owns the fields below
	asking chan struct{}
	err    error     // why the peer is not known
	again  time.Time // no new request before this time
}

const (
	askTimeout = 2 * time.Second
	askAgain   = time.Minute
)

func (p *plain) peer(ctx context.Context) (*Peer, error) {
	if peer := p.name.known.Load(); peer != nil {
		return peer, nil
	}
	select {
	case p.name.asking <- struct{}{}:
		defer func() { <-p.name.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if peer := p.name.known.Load(); peer != nil {
		return peer, nil
	}
	if p.name.err != nil && time.Now().Before(p.name.again) {
		return nil, p.name.err
	}
	peer, err := p.ask(ctx)
	if err != nil {
		if ctx.Err() == nil {
			p.name.err, p.name.again = err, time.Now().Add(askAgain)
		}
		return nil, err
	}
	p.name.known.Store(peer)
	return peer, nil
}

// ask sends an initialize of our own. The answer does not start a session, because such a server
// keeps none.
func (p *plain) ask(ctx context.Context) (*Peer, error) {
	ctx, cancel := context.WithTimeout(ctx, min(askTimeout, p.u.timeout()))
	defer cancel()
	req := initializeRequest(p.u, era.LatestLegacy)
	reply, err := p.roundTrip(ctx, ctx, &req)
	if err != nil {
		return nil, err
	}
	defer reply.Release()
	if reply.Result == nil {
		return nil, p.u.errorf(Invalid, "it answered initialize with an error")
	}
	peer, err := newPeer(era.Legacy, reply.Result)
	if err != nil {
		return nil, p.u.errorf(Invalid, "%v", err)
	}
	peer.Protocol = peer.said.ProtocolVersion // any version will do: nothing here depends on it
	return peer, nil
}
