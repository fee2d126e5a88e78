package pruner

import (
	"context"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// ID is the server id of these tools in access rules.
const ID = "pruner"

// ToolPrune is the tool that prunes a text.
const ToolPrune = "prune_text"

// ask checks the targets of a message at the pruner's own door.
func (s *Server) ask(ctx context.Context, p *access.Principal, msg *wire.Message, targets []access.Target) (admission.Permit, *rpchttp.Failure) {
	if targets != nil {
		permit, no := s.opt.Admission.Ask(ctx, p, msg.Method, targets...)
		return permit, refusedBy(no)
	}
	whole := access.Target{Door: access.DoorPruner, Server: ID}
	if !s.opt.Admission.Sees(p, access.DoorPruner, ID) {
		no := s.opt.Admission.Unseen(ctx, p, whole, msg.Method)
		if no.Rule != "" {
			return admission.Permit{}, refusedBy(no)
		}
		return admission.Permit{}, rpchttp.NewFailure(http.StatusNotFound, wire.NewError(wire.CodeUnknownServer, "there is no pruner here"), nil)
	}
	if !rpchttp.Counts(msg.Method) {
		return admission.Permit{}, nil
	}
	permit, no := s.opt.Admission.AskSeen(ctx, p, msg.Method, whole)
	return permit, refusedBy(no)
}

// absent answers a call of an unknown tool with the words of a refusal; nil: the answer may pass
// unchanged.
func (s *Server) absent(permit admission.Permit, failed *wire.Error, targets []access.Target) *rpchttp.Failure {
	return refusedBy(permit.Absent(&wire.Message{Error: failed.Append(nil)}, targets, func(t access.Target) bool {
		return t.Kind == access.KindTool && s.tools.Has(t.Name)
	}))
}

func refusedBy(no *admission.Refusal) *rpchttp.Failure {
	if no == nil {
		return nil
	}
	e, status, header := no.Error()
	if status == 0 {
		status = http.StatusOK
	}
	return rpchttp.NewFailure(status, e, header)
}

// withhold removes the tools from a list that the caller may not use.
func (s *Server) withhold(p *access.Principal, msg *wire.Message, result []byte) []byte {
	l, ok := catalog.ListOf(msg.Method)
	if !ok || s.opt.Admission.Rules() == nil {
		return result
	}
	return catalog.Filter(l, result, func(original string) bool {
		return s.opt.Admission.ListsItem(p, access.DoorPruner, ID, l, original)
	})
}
