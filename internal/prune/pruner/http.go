package pruner

import (
	"net/http"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// ServeRPC answers a principal's POST with one JSON-RPC message. For curl, every JSON-RPC response
// has HTTP status 200. For MCP clients of both eras it is Streamable HTTP without sessions and
// streams, which it refuses with 405.
func (s *Server) ServeRPC(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	if rpchttp.PostOnly(w, r) {
		return
	}
	body, failed := rpchttp.Read(w, r, s.opt.MaxMessageBytes)
	if failed != nil {
		failed.Write(w, wire.ID{})
		return
	}
	defer body.Release()
	msg, bad := wire.ParseRequest(body.Bytes, wire.MaxRequestDepth)
	if bad == nil {
		bad = checkHeaders(r.Header, &msg)
	}
	if bad != nil {
		rpchttp.BadRequest(bad).Write(w, msg.ID)
		return
	}
	if rpchttp.Counts(msg.Method) {
		entry, over := s.opt.Admission.Enter(r.Context(), principal, access.DoorPruner)
		if over != nil {
			refusedBy(over).Write(w, msg.ID)
			return
		}
		defer entry.Leave()
		admission.SetHeaders(w.Header(), entry.State())
	}
	targets := admission.TargetsOf(access.DoorPruner, ID, &msg)
	permit, failed := s.ask(r.Context(), principal, &msg, targets)
	if failed != nil {
		failed.Write(w, msg.ID)
		return
	}
	written := 0
	defer func() { permit.Done(len(body.Bytes), written) }()
	told := admission.ToldIn(w.Header())
	admission.SetHeaders(w.Header(), permit.State())
	if params := permit.RedactParams(msg.Params); len(params) > 0 && &params[0] != &msg.Params[0] {
		msg = msg.WithParams(params)
	}
	if msg.Kind() != wire.Request {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, refused := s.tools.Answer(access.NewContext(r.Context(), principal), &msg)
	if refused != nil {
		if no := s.absent(permit, refused, targets); no != nil {
			told.Restore(w.Header())
			no.Write(w, msg.ID)
			return
		}
		rpchttp.Write(w, statusOf(r.Header, refused), refused.AppendResponse(nil, msg.ID))
		return
	}
	result = permit.RedactResult(s.withhold(principal, &msg, result))
	answer := wire.AppendResult(make([]byte, 0, len(result)+64), msg.ID, result)
	written = len(answer)
	rpchttp.Write(w, http.StatusOK, answer)
}

// ServeHTTP is ServeRPC for an unknown caller.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ServeRPC(w, r, access.Anonymous())
}

// ServeHealth answers GET /health.
func (s *Server) ServeHealth(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "GET tells how the pruner is", http.StatusMethodNotAllowed)
		return
	}
	rpchttp.Write(w, http.StatusOK, s.health())
}
