package gateway

import (
	"context"
	"slices"
	"strings"

	"secateur/internal/access/admission"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// All callers of this door share the connection to a live server with other doors' sessions. A
// request that would change the connection would change it for all of them. Such requests are
// answered here, in a way that callers cannot distinguish. This door passes on neither updates nor
// log messages.

// answered returns the result or the error of a request about the connection; neither if the server
// must be asked.
func (g *Gateway) answered(ctx context.Context, up *upstream.Upstream, req *wire.Message) (result []byte, refused *wire.Error, err error) {
	switch req.Method {
	case "initialize", "server/discover":
		peer, err := up.Peer(ctx)
		if err != nil {
			return nil, nil, err
		}
		if req.Method == "initialize" {
			return peer.InitializeResult(), nil, nil
		}
		return peer.DiscoverResult(), nil, nil
	case "ping":
		_, err := up.Peer(ctx)
		return []byte("{}"), nil, err
	case "resources/unsubscribe": // this caller has no lasting subscription
		return []byte("{}"), nil, nil
	case "logging/setLevel":
		if level := rawjson.GetText(req.Params, "level"); !slices.Contains(levels, level) {
			return nil, wire.InvalidParams("/level", "expected one of "+strings.Join(levels, ", ")), nil
		}
		return []byte("{}"), nil, nil
	case "subscriptions/listen":
		e := wire.NewError(wire.CodeInvalidRequest, "subscriptions/listen is answered with a stream, which this door does not have")
		e.Data.Hint = "listen at /mcp/" + up.ID()
		return nil, e, nil
	}
	return nil, nil, nil
}

// levels are the log levels.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// subscribe asks the server for a subscription through the pool, which tracks subscribers. The
// subscription ends at once, because this door delivers no updates.
func (g *Gateway) subscribe(ctx context.Context, up *upstream.Upstream, req *wire.Message) (*upstream.Reply, error) {
	var response []byte
	switch {
	case g.opt.Subscribe == nil:
		response = wire.NewError(wire.CodeMethodNotFound, "method not found: "+req.Method).AppendResponse(nil, req.ID)
	case req.URI == "":
		response = wire.InvalidParams("/uri", "is missing").AppendResponse(nil, req.ID)
	default:
		refused, err := g.opt.Subscribe(ctx, up.ID(), req.URI)
		if err != nil {
			return nil, err
		}
		response = wire.AppendResult(nil, req.ID, []byte("{}"))
		if refused != nil {
			response = wire.AppendErrorObject(nil, req.ID, refused)
		}
	}
	return g.own(response)
}

// own wraps our own response as a server's reply.
func (g *Gateway) own(response []byte) (*upstream.Reply, error) {
	msg, err := wire.ParseServer(response, g.opt.Masker.LongString())
	if err != nil {
		return nil, err
	}
	return &upstream.Reply{Message: msg}, nil
}

// isOwn reports whether a notification to a live server is handled here. It concerns the
// connection, or requests and roots that callers of this door never get.
func isOwn(method string) bool {
	switch method {
	case "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return admission.IsAboutConnection(method)
}
