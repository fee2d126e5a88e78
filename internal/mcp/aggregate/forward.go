package aggregate

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
	"secateur/internal/rawjson"
)

// proxiedCall is a client's request on its way to a server, and the way back.
type proxiedCall struct {
	s    *clientConn
	c    *client
	a    request
	d    destination
	conn *pool.Conn
	peer era.Era // of the server

	token wire.ID // under which the client of a parked call hears of its progress
}

// forward has a server answer. How long it may take is the connection's to say (upstream, response_timeout).
func (s *clientConn) forward(ctx context.Context, c *client, a request, d destination) reply {
	a.timing.Server, a.timing.Tool = d.server, d.tool
	if tasks.Names(a.Method) {
		if id, ok := s.opt.Tasks.MayAsk(ctx, d.server, d.params, s.taskCaller(c)); !ok {
			return refused(invalidParams("/taskId", "unknown task: "+clipped(id)))
		}
	}
	if a.Method == "tools/call" && d.raw == nil {
		if why := known(ctx, c.member).Unusable(d.server, d.tool); why != "" {
			return refused(invalidParams("/name", fmt.Sprintf("tool %s of server %q cannot be called: %s", clipped(d.tool), d.server, why)))
		}
	}
	conn, release, err := c.member.Hold(ctx, d.server)
	if err != nil {
		return refused(callFailed(ctx, d.server, err))
	}
	defer release()
	e := proxiedCall{s: s, c: c, a: a, d: d, conn: conn, peer: era.Legacy}
	if peer, err := conn.Peer(ctx); err == nil {
		e.peer = peer.Era
	} else if conn.Settings().Transport != upstream.TransportRPC { // such a server need not say who it is
		return refused(callFailed(ctx, d.server, err))
	}
	if s.only == "" && d.server == a.now.Recovery {
		ctx = toolserver.WithBrief(ctx, recoverChars(a.now.RecoverChars, c.name))
	}
	e.takeFocus()
	e.readGoal(time.Now())
	r := s.noteTasks(ctx, c, a.Method, d.server, e.bridge(ctx))
	if r.failed != nil && c.era == era.Modern && e.peer == era.Legacy && isNoSuchMethod(a.Method, r.failed.call) {
		return refused(&failure{err: unknownMethod(a.Method).err, status: http.StatusNotFound})
	}
	if r.failed != nil && c.era == era.Legacy && !r.failed.hidden {
		r.failed.stream = true
	}
	return r
}

// isNoSuchMethod reports whether a legacy server does not know a method that is not MCP's. Some say
// so with HTTP 400 and a line of text.
func isNoSuchMethod(method string, failed *upstream.CallError) bool {
	return telemetry.MethodLabel(method) == telemetry.Other && failed != nil && failed.IsForeign() && failed.HTTPStatus == http.StatusBadRequest
}

// bridge has a server of one era answer a client of another, or of the same.
func (e *proxiedCall) bridge(ctx context.Context) reply {
	switch {
	case e.peer == e.c.era:
		return e.through(ctx)
	case !bridged(e.a.Method):
		return refused(unknownMethod(e.a.Method))
	case e.c.era == era.Legacy:
		return e.rounds(ctx)
	default:
		return e.park(ctx)
	}
}

// bridged reports whether a method means the same in both eras.
func bridged(method string) bool {
	switch method {
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list":
		return false
	}
	return true
}

// through passes a request between equals.
func (e *proxiedCall) through(ctx context.Context) reply {
	options, failed := e.options()
	if failed != nil {
		return refused(failed)
	}
	answer, err := e.conn.Call(ctx, e.message(e.d.params), options)
	if err != nil {
		return refused(callFailed(ctx, e.d.server, err))
	}
	return e.finish(ctx, answer)
}

// message is the request with these params.
func (e *proxiedCall) message(params []byte) *wire.Message {
	if same(params, e.a.Params) {
		return e.a.Message
	}
	m := e.a.WithParams(params)
	return &m
}

// options has what the server sends for the call go to the client.
func (e *proxiedCall) options() (upstream.CallOptions, *failure) {
	o := upstream.CallOptions{Related: relay{e}}
	if e.c.era == era.Legacy {
		o.Caller = e.c.member // a modern client is asked in the very call
	}
	if e.d.raw == nil {
		return o, nil
	}
	headers, failed := paramHeaders(e.a, e.d.raw)
	if failed != nil {
		return o, failed
	}
	if e.peer == era.Modern {
		for _, h := range headers {
			o.Header = append(o.Header, upstream.Header{Name: h.Name, Value: h.Value})
		}
	}
	return o, nil
}

// finish turns the server's answer into the client's.
func (e *proxiedCall) finish(ctx context.Context, r *upstream.Reply) reply {
	if no := e.c.absent(ctx, e.a, e.d.names, &r.Message); no != nil {
		r.Release()
		return refused(no)
	}
	out := reply{Answer: downstream.Answer{Body: r.Raw, Stream: true, Release: r.Release}}
	if r.Error != nil {
		out.outcome = "server_error"
		return e.finishError(r, out)
	}
	result := e.a.permit.RedactResult(e.withhold(ctx, r.Result))
	if e.d.renames && !r.NoRefs {
		result = e.d.out.Result(e.a.Method, result)
	}
	switch {
	case e.peer == e.c.era:
	case e.c.era == era.Modern:
		result = era.ResultToModern(e.a.Method, result, nil)
	default:
		result = era.ResultToLegacy(result)
	}
	if e.mayMask(ctx, result) {
		result = e.mask(ctx, result)
	}
	if !same(result, r.Result) {
		m := r.WithResult(result)
		out.Body, out.Release = m.Raw, nil
		r.Release()
	}
	return out
}

// withhold takes out of a list of the one server, and of a completion, what its client may not have.
func (e *proxiedCall) withhold(ctx context.Context, result []byte) []byte {
	if e.a.Method == "completion/complete" {
		return e.a.now.Admission.Completion(e.a.principal, access.DoorMCP, e.d.server, e.d.params, result)
	}
	l, ok := catalog.ListOf(e.a.Method)
	if !ok {
		return result
	}
	e.a.now.Admission.NoteList(ctx, e.d.server, l, result)
	if l == catalog.Tools {
		result = catalog.FilterTools(result, e.peer == e.c.era)
	}
	if !e.a.now.Admission.Filters() {
		return result
	}
	return catalog.Filter(l, result, func(original string) bool { return e.a.lists(l, e.d.server, original) })
}

// finishError passes a server's error on, in the words of the client's era.
func (e *proxiedCall) finishError(r *upstream.Reply, out reply) reply {
	failed := e.a.permit.RedactResult(r.Error)
	if data := r.ErrorData(); data != nil && e.d.renames {
		if now := e.d.out.ErrorData(data); !same(now, data) {
			failed = rawjson.Set(failed, "data", now)
		}
	}
	if e.c.era == era.Modern {
		code := r.ErrorCode()
		if code == era.CodeElicitationRequired && e.peer == era.Legacy {
			return refused(needsPages())
		}
		if code == era.CodeResourceNotFound && e.peer == era.Legacy {
			failed = rawjson.Set(failed, "code", strconv.AppendInt(nil, wire.CodeInvalidParams, 10))
		}
		if out.Status = era.HTTPStatus(code); out.Status != 0 {
			out.Stream = false // a stream would have told the client that all is well
		}
	}
	if !same(failed, r.Error) {
		m := r.WithError(failed)
		out.Body, out.Release = m.Raw, nil
		r.Release()
	}
	return out
}

// same tells whether two slices are one and the same: nothing was rewritten.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
