package aggregate

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"secateur/internal/era"
	"secateur/internal/pool"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
	"secateur/internal/upstream"
)

// parkedCalls are the calls of modern clients whose legacy servers wait for an answer.
type parkedCalls struct {
	mu     sync.Mutex
	closed bool                   // guarded by mu
	open   map[callID]*parkedCall // guarded by mu
}

// maxParked bounds them.
const maxParked = 1024

var (
	errTooManyParked = errors.New("too many calls wait for their clients")
	errNotComeBack   = errors.New("the client did not come back")
	errStopping      = errors.New("the program stops")
)

func (t *parkedCalls) add(p *parkedCall) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errStopping
	}
	if len(t.open) >= maxParked {
		return errTooManyParked
	}
	if t.open == nil {
		t.open = map[callID]*parkedCall{}
	}
	t.open[p.id] = p
	return nil
}

func (t *parkedCalls) find(id callID) *parkedCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[id]
}

func (t *parkedCalls) drop(id callID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
}

// close ends those whose clients are away, and lets no client go away from now on.
func (t *parkedCalls) close() {
	t.mu.Lock()
	t.closed = true
	open := slices.Collect(maps.Values(t.open))
	t.mu.Unlock()
	for _, p := range open {
		if p.isAway() {
			t.drop(p.id)
			p.cancel(errStopping)
		}
	}
}

func (t *parkedCalls) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// parkedCall is a call that goes on while its client is away. Its client comes and goes; whoever is there holds the
// place of the errand.
type parkedCall struct {
	id     callID
	digest digest
	cancel context.CancelCauseFunc
	ctx    context.Context // it is the call's own life, which no request spans
	log    *slog.Logger

	changed chan struct{} // has a token when there is something new to see

	mu      sync.Mutex
	here    *errand         // guarded by mu; of the client that waits; nil while it is away
	round   byte            // guarded by mu; how often it was sent away
	last    int             // guarded by mu; newest question
	pending []*posed        // guarded by mu; questions without an answer, in order
	missed  []*rpc.Message  // guarded by mu; what the server sent while the client was away
	answer  *upstream.Reply // guarded by mu; the end, or err is
	err     error           // guarded by mu
	over    bool            // guarded by mu
	late    *time.Timer     // guarded by mu

	capabilities []byte      // of the client
	d            destination // for the names in what the server asks
}

// posed is a question of the server's.
type posed struct {
	key    string
	req    *rpc.Message
	answer chan []byte // gets the raw result
}

// park has a legacy server answer a modern client.
func (e *errand) park(ctx context.Context) reply {
	bare := e.d
	bare.params = era.WithoutRetry(era.WithoutMeta(e.d.params))
	plain := *e
	plain.d, plain.token = bare, rpc.IDOf(e.a.ProgressToken())
	if !e.mayBeAsked() {
		return plain.through(ctx)
	}
	responses, sealed, again := era.ReadRetry(e.d.params)
	if !again || sealed == "" {
		return plain.begin(ctx)
	}
	st, err := e.s.seal.open(sealed, e.c.principal.Key())
	if err != nil || st.digest != plain.fingerprint() {
		return refused(badState())
	}
	if st.kind == stateAgain {
		if refusal := refusalIn(responses); refusal != nil {
			return refused(refusal)
		}
		return plain.begin(ctx)
	}
	p := e.s.parked.find(st.call)
	if p == nil || !p.resume(&plain, st.round, responses) {
		return refused(badState())
	}
	return plain.await(ctx, p)
}

func badState() *failure {
	f := invalidParams("/requestState", "is not one that a call waits for: it is too old, or of another request")
	f.err.Data.Hint = "make the call again without requestState and inputResponses"
	return f
}

// refusalIn is a person who would not go where the server wanted them to.
func refusalIn(responses []era.InputResponse) *failure {
	for _, r := range responses {
		if action := rawjson.GetText(r.Value, "action"); action != "accept" {
			return &failure{err: rpc.NewError(rpc.CodeInvalidRequest, "the user did not accept what the server needs first")}
		}
	}
	return nil
}

// mayBeAsked reports whether a call may be answered with a question, and this client would answer any.
func (e *errand) mayBeAsked() bool {
	switch e.a.Method {
	case "tools/call", "prompts/get", "resources/read":
	default:
		return false
	}
	for _, name := range []string{"elicitation", "sampling", "roots"} {
		if rawjson.Get(e.c.capabilities, name) != nil {
			return true
		}
	}
	return false
}

// begin makes the call and waits for its end, or for a question.
func (e *errand) begin(ctx context.Context) reply {
	if _, failed := e.options(ctx); failed != nil {
		return refused(failed)
	}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &parkedCall{
		digest: e.fingerprint(), cancel: cancel, ctx: life, changed: make(chan struct{}, 1), here: e,
		capabilities: e.c.capabilities, d: destination{server: e.d.server, renames: e.d.renames, out: e.d.out}, log: e.s.log,
	}
	_, _ = rand.Read(p.id[:])
	if err := e.s.parked.add(p); err != nil {
		cancel(nil)
		return refused(callFailed(ctx, e.d.server, err))
	}
	e.s.metrics.waiting.Inc()
	request := *e.message(e.d.params)
	request.Raw = append([]byte(nil), request.Raw...) // the caller's buffer is not ours for that long
	own, bad := rpc.ParseRequest(request.Raw, rpc.MaxRequestDepth)
	if bad != nil {
		own = request
	}
	// The call must not lose its connection while its client is away.
	stay := e.s.opt.Pool.Join(pool.Client{Era: era.Modern, Capabilities: e.c.capabilities, Only: e.s.only}, nil)
	go func() {
		defer e.s.metrics.waiting.Dec()
		defer stay.Leave()
		answer, err := e.conn.Call(life, &own, upstream.CallOptions{Related: p})
		p.end(answer, err)
	}()
	return e.await(ctx, p)
}

// await waits with the client for the call's end or for questions.
func (e *errand) await(ctx context.Context, p *parkedCall) reply {
	for {
		now := p.look(e.s.opt.AnswerTime, e.s.parked.drop)
		switch {
		case now.err != nil:
			e.s.parked.drop(p.id)
			return refused(callFailed(ctx, e.d.server, now.err))
		case now.answer != nil:
			e.s.parked.drop(p.id)
			return e.finishParked(ctx, now.answer)
		case len(now.questions) > 0 && e.s.parked.isClosed():
			e.s.parked.drop(p.id)
			p.cancel(errStopping)
			return refused(callFailed(ctx, e.d.server, errStopping))
		case len(now.questions) > 0:
			return e.wants(now.questions, state{stateParked, now.round, p.id, p.digest})
		}
		select {
		case <-p.changed:
		case <-ctx.Done(): // for a modern client that is what cancelling is
			e.s.parked.drop(p.id)
			p.cancel(context.Cause(ctx))
			return refused(callFailed(ctx, e.d.server, ctx.Err()))
		}
	}
}

// wants answers the client with questions.
func (e *errand) wants(questions []era.InputRequest, st state) reply {
	result := era.AppendInputRequired(nil, questions, e.s.seal.close(st, e.c.principal.Key()))
	r := e.a.result(result)
	r.Stream = true
	r.outcome = "input_required"
	return r
}

// finishParked is finish for a server that may also answer that a page has to be visited first.
func (e *errand) finishParked(ctx context.Context, answer *upstream.Reply) reply {
	if answer.Error == nil || answer.ErrorCode() != era.CodeElicitationRequired {
		own := &upstream.Reply{Message: answer.WithID(e.a.ID), HTTPStatus: answer.HTTPStatus} // others may look at it too
		return e.finish(ctx, own)
	}
	var questions []era.InputRequest
	i := 0
	for params := range rawjson.Items(rawjson.Get(answer.ErrorData(), "elicitations")) {
		i++
		if rawjson.IsObject(params) {
			questions = append(questions, era.InputRequest{
				Key: "url" + strconv.Itoa(i), Method: "elicitation/create", Params: rawjson.Set(params, "mode", []byte(`"url"`)),
			})
		}
	}
	if len(questions) == 0 || !era.Declares(e.c.capabilities, "elicitation/create", questions[0].Params) {
		return refused(needsPages())
	}
	return e.wants(questions, state{kind: stateAgain, digest: e.fingerprint()})
}

// Serve takes what the server sends for the call.
func (p *parkedCall) Serve(ctx context.Context, m *rpc.Message) []byte {
	p.mu.Lock()
	if m.Kind() != rpc.Request {
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
		return rpc.AppendResult(nil, m.ID, result)
	case <-p.ctx.Done():
	case <-ctx.Done():
	}
	return rpc.NewError(rpc.CodeInternal, "the client did not answer").AppendResponse(nil, m.ID)
}

// heard passes a notification on to the client that waits, progress under the token that it gave this time.
func (e *errand) heard(m *rpc.Message) {
	if m.Method == "notifications/progress" {
		if !e.token.IsZero() {
			e.a.x.Send(m.AppendRewritten(nil, rpc.Rewrite{ProgressToken: e.token}))
		}
		return
	}
	(&relay{errand: e}).notice(m)
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

// view is what there is to tell the client: the end, or questions, or nothing yet.
type view struct {
	answer    *upstream.Reply
	err       error
	questions []era.InputRequest
	round     byte
}

// look finds out what there is to tell the client. If there are questions, it is sent away with them and has so much
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
		now.questions = append(now.questions, era.InputRequest{Key: q.key, Method: q.req.Method, Params: q.req.Params})
	}
	return now
}

// resume is the client coming back with answers. It returns false if it was not this time's.
func (p *parkedCall) resume(e *errand, round byte, responses []era.InputResponse) bool {
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
