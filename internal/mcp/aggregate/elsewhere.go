package aggregate

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/ops/replica"
	"secateur/internal/rawjson"
)

// A parked call is held by one replica. A retry that reaches another is forwarded to it as it came, and its answer passes as it is: names, cuts and eras are
// done with there. A replica that is gone has lost its calls; their clients are told to make them again.

// elsewhere has the replica answer that holds the call.
func (e *proxiedCall) elsewhere(ctx context.Context, holder replica.ID) reply {
	if isForwarded(e.a.x) { // by another that took us for the holder
		return refused(badState())
	}
	answer, err := e.s.opt.Replicas.Forward(ctx, holder, replica.Call{
		Path: e.s.path(), Header: e.a.x.Header(), Body: e.a.asItCame(), Principal: e.a.principal, MaxBytes: maxForwarded,
		Notify: func(message []byte) { e.a.x.Send(message) },
	})
	switch {
	case ctx.Err() != nil:
		return refused(callFailed(ctx, e.d.server, ctx.Err()))
	case err != nil:
		e.s.log.InfoContext(ctx, "a parked call is lost with its replica", "server", e.d.server, "err", err)
		return refused(badState())
	}
	r := reply{Answer: downstream.Answer{Body: answer.Body, Header: answer.Header, Stream: true}, outcome: "forwarded"}
	if answer.Status != http.StatusOK {
		r.Status, r.Stream = answer.Status, false
	}
	return r
}

// maxForwarded bounds an answer of another replica, which has bounds of its own.
const maxForwarded = 256 << 20

// path is the address of the client's door.
func (s *clientConn) path() string {
	path := "/mcp"
	if s.only != "" {
		path += "/" + url.PathEscape(s.only)
	}
	query := url.Values{}
	if s.asked.Separator != "" {
		query.Set("separator", s.asked.Separator)
	}
	if s.asked.MaxLength != 0 {
		query.Set("max_length", strconv.Itoa(s.asked.MaxLength))
	}
	if s.mode != "" {
		query.Set("tools", s.mode)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// asItCame is the message of a request, whatever it was turned into.
func (a request) asItCame() []byte {
	if a.came != nil {
		return a.came.Raw
	}
	return a.Raw
}

// isForwarded reports whether another replica has sent a request; the guard has seen to it that it really has.
func isForwarded(x downstream.Exchange) bool { return replica.IsForwarded(x.Header()) }

// checkForwarded refuses what another replica sends if it is not the retry of a call that waits here: nothing else is forwarded.
func (s *clientConn) checkForwarded(a request) *failure {
	if !isForwarded(a.x) {
		return nil
	}
	_, sealed, again := era.ReadRetry(rawjson.Get(a.Raw, "params"))
	if !again || replicaOf(sealed) != s.seal.replica {
		return badState()
	}
	return nil
}
