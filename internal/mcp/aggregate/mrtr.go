package aggregate

import (
	"context"
	"crypto/rand"
	"strconv"

	"secateur/internal/access"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// MRTR (multi round-trip requests: 2026-07-28, basic/patterns/mrtr; SEP-2322) towards a modern client, in front of
// a legacy server that asks in the middle of a call: the call is parked, the client gets its requests as an
// input_required result with a sealed requestState, and comes back with the answers. mrtrrounds.go is the other way
// round.

// park has a legacy server answer a modern client.
func (e *proxiedCall) park(ctx context.Context) reply {
	bare := e.d
	bare.params = era.WithoutRetry(era.WithoutMeta(e.d.params))
	plain := *e
	plain.d, plain.token = bare, wire.IDOf(e.a.ProgressToken())
	if !e.mayBeAsked() {
		return plain.through(ctx)
	}
	responses, sealed, again := era.ReadRetry(e.d.params)
	if !again || sealed == "" {
		return plain.begin(ctx)
	}
	if holder := replicaOf(sealed); holder != e.s.seal.replica {
		return e.elsewhere(ctx, holder)
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
			return &failure{err: wire.NewError(wire.CodeInvalidRequest, "the user did not accept what the server needs first")}
		}
	}
	return nil
}

// mayBeAsked reports whether a call may be answered with input requests, and this client would answer any.
func (e *proxiedCall) mayBeAsked() bool {
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

// begin makes the call and waits for its end, or for an input request.
func (e *proxiedCall) begin(ctx context.Context) reply {
	if _, failed := e.options(); failed != nil {
		return refused(failed)
	}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &parkedCall{
		holder: access.HolderOf(e.c.principal), digest: e.fingerprint(), cancel: cancel, ctx: life, changed: make(chan struct{}, 1), here: e,
		capabilities: e.c.capabilities, d: destination{server: e.d.server, renames: e.d.renames, out: e.d.out}, log: e.s.log, permit: e.a.permit,
	}
	_, _ = rand.Read(p.id[:])
	if e.s.link != nil {
		p.session = e.s
	}
	if err := e.s.parked.add(p); err != nil {
		cancel(nil)
		return refused(callFailed(ctx, e.d.server, err))
	}
	e.s.metrics.waiting.Inc()
	request := *e.message(e.d.params)
	request.Raw = append([]byte(nil), request.Raw...) // the caller's buffer is not ours for that long
	own, bad := wire.ParseRequest(request.Raw, wire.MaxRequestDepth)
	if bad != nil {
		own = request
	}
	// The call must not lose its connection while its client is away.
	stay := e.s.opt.Pool.Join(pool.Client{Era: era.Modern, Capabilities: e.c.capabilities, Only: e.s.only}, nil)
	started := e.s.jobs.run(func() {
		defer e.s.metrics.waiting.Dec()
		defer stay.Leave()
		defer e.s.jobs.onStop(func() { cancel(errStopping) })()
		answer, err := e.conn.Call(life, &own, upstream.CallOptions{Related: p})
		p.end(answer, err)
	})
	if !started {
		e.s.parked.drop(p.id)
		e.s.metrics.waiting.Dec()
		stay.Leave()
		cancel(errStopping)
		return refused(callFailed(ctx, e.d.server, errStopping))
	}
	return e.await(ctx, p)
}

// await waits with the client for the call's end or for input requests.
func (e *proxiedCall) await(ctx context.Context, p *parkedCall) reply {
	for {
		now := p.look(e.s.opt.ParkTime, e.s.parked.drop)
		switch {
		case now.err != nil:
			e.s.parked.drop(p.id)
			return refused(callFailed(ctx, e.d.server, now.err))
		case now.answer != nil:
			e.s.parked.drop(p.id)
			return e.finishParked(ctx, now.answer)
		case len(now.wanted) > 0 && e.s.parked.isClosed():
			e.s.parked.drop(p.id)
			p.cancel(errStopping)
			return refused(callFailed(ctx, e.d.server, errStopping))
		case len(now.wanted) > 0:
			return e.wants(now.wanted, state{stateParked, now.round, p.id, p.digest})
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

// wants answers the client with input requests.
func (e *proxiedCall) wants(wanted []era.InputRequest, st state) reply {
	result := era.AppendInputRequired(nil, wanted, e.s.seal.close(st, e.c.principal.Key()))
	r := e.a.result(result)
	r.Stream = true
	r.outcome = "input_required"
	return r
}

// finishParked is finish for a server that may also answer that a page has to be visited first.
func (e *proxiedCall) finishParked(ctx context.Context, answer *upstream.Reply) reply {
	if answer.Error == nil || answer.ErrorCode() != era.CodeElicitationRequired {
		own := &upstream.Reply{Message: answer.WithID(e.a.ID), HTTPStatus: answer.HTTPStatus} // others may look at it too
		return e.finish(ctx, own)
	}
	var wanted []era.InputRequest
	i := 0
	for params := range rawjson.Items(rawjson.Get(answer.ErrorData(), "elicitations")) {
		i++
		if rawjson.IsObject(params) {
			wanted = append(wanted, era.InputRequest{
				Key: "url" + strconv.Itoa(i), Method: "elicitation/create", Params: rawjson.Set(params, "mode", []byte(`"url"`)),
			})
		}
	}
	if len(wanted) == 0 || !era.Declares(e.c.capabilities, "elicitation/create", wanted[0].Params) {
		return refused(needsPages())
	}
	return e.wants(wanted, state{kind: stateAgain, digest: e.fingerprint()})
}

// heard passes a notification on to the client that waits, progress under the token that it gave this time.
func (e *proxiedCall) heard(m *wire.Message) {
	if m.Method == "notifications/progress" {
		if !e.token.IsZero() {
			e.a.x.Send(m.AppendRewritten(nil, wire.Rewrite{ProgressToken: e.token}))
		}
		return
	}
	(&relay{proxiedCall: e}).notice(m)
}
