package aggregate

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// parkedCall is a call that goes on while its client is away. Its client comes and goes; whoever is there holds the
// place of the proxiedCall.
type parkedCall struct {
	id      callID
	holder  access.Holder
	session *clientConn // that it belongs to; nil: to none, as over HTTP
	digest  digest
	cancel  context.CancelCauseFunc
	ctx     context.Context // it is the call's own life, which no request spans
	log     *slog.Logger

	changed chan struct{} // has a token when there is something new to see

	mu      sync.Mutex
	here    *proxiedCall    // guarded by mu; of the client that waits; nil while it is away
	round   byte            // guarded by mu; how often it was sent away
	last    int             // guarded by mu; newest request of the server
	pending []*posed        // guarded by mu; requests of the server without an answer, in order
	missed  []*wire.Message // guarded by mu; what the server sent while the client was away
	answer  *upstream.Reply // guarded by mu; the end, or err is
	err     error           // guarded by mu
	over    bool            // guarded by mu
	late    *time.Timer     // guarded by mu

	capabilities []byte      // of the client
	d            destination // for the names in what the server asks
	permit       admission.Permit
}

// posed is a request of the server's to the client (MRTR: an input request).
type posed struct {
	key    string
	req    *wire.Message
	answer chan []byte // gets the raw result
}

// Serve takes what the server sends for the call.
func (p *parkedCall) Serve(ctx context.Context, m *wire.Message) []byte {
	m = p.permit.RedactNotice(m)
	p.mu.Lock()
	if m.Kind() != wire.Request {
		defer p.mu.Unlock() // so that they stay in order
		switch {
		case p.here != nil:
			p.here.heard(m)
		case len(p.missed) < maxEarly:
			p.missed = append(p.missed, m)
		}
		return nil
	}
	if p.over || !era.Declares(p.capabilities, m.Method, m.Params) {
		p.mu.Unlock()
		return notOffered(m)
	}
	p.last++
	q := &posed{key: "q" + strconv.Itoa(p.last), req: p.d.named(m), answer: make(chan []byte, 1)}
	p.pending = append(p.pending, q)
	p.mu.Unlock()
	p.log.InfoContext(ctx, "server asks the client", "server", p.d.server, "method", m.Method)
	p.signal()
	select {
	case result := <-q.answer:
		return wire.AppendResult(nil, m.ID, result)
	case <-p.ctx.Done():
	case <-ctx.Done():
	}
	return wire.NewError(wire.CodeInternal, "the client did not answer").AppendResponse(nil, m.ID)
}

func (p *parkedCall) isAway() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.here == nil
}

func (p *parkedCall) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// end notes how the call ended.
func (p *parkedCall) end(answer *upstream.Reply, err error) {
	p.mu.Lock()
	p.answer, p.err, p.over = answer, err, true
	p.mu.Unlock()
	p.cancel(nil)
	p.signal()
}

// view is what there is to tell the client: the end, or input requests, or nothing yet.
type view struct {
	answer *upstream.Reply
	err    error
	wanted []era.InputRequest
	round  byte
}

// look finds out what there is to tell the client. If there are input requests, it is sent away with them and has so much
// time to come back.
func (p *parkedCall) look(patience time.Duration, forget func(callID)) view {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || len(p.pending) == 0 {
		return view{answer: p.answer, err: p.err}
	}
	p.round++
	p.here = nil
	p.late = time.AfterFunc(patience, func() {
		forget(p.id)
		p.cancel(errNotComeBack)
	})
	now := view{round: p.round}
	for _, q := range p.pending {
		now.wanted = append(now.wanted, era.InputRequest{Key: q.key, Method: q.req.Method, Params: q.req.Params})
	}
	return now
}

// resume is the client coming back with answers. It returns false if it was not this time's.
func (p *parkedCall) resume(e *proxiedCall, round byte, responses []era.InputResponse) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if round != p.round || p.late == nil || !p.late.Stop() && !p.over {
		return false
	}
	p.late, p.here = nil, e
	for _, m := range p.missed {
		e.heard(m)
	}
	p.missed = nil
	rest := p.pending[:0]
	for _, q := range p.pending {
		if value := responseTo(q.key, responses); value != nil {
			q.answer <- value
			continue
		}
		rest = append(rest, q)
	}
	p.pending = rest
	return true
}

func responseTo(key string, responses []era.InputResponse) []byte {
	for _, r := range responses {
		if r.Key == key {
			return append([]byte(nil), r.Value...)
		}
	}
	return nil
}
