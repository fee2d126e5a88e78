package gateway

import (
	"context"
	"net/http"
	"strconv"

	"secateur/internal/access"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// foreignTask refuses a request about a task that its caller did not create, as if it were unknown;
// nil: allowed.
func (g *Gateway) foreignTask(ctx context.Context, p *access.Principal, server string, req *wire.Message) *rpchttp.Failure {
	if !tasks.Names(req.Method) {
		return nil
	}
	id, ok := g.opt.Tasks.MayAsk(ctx, server, req.Params, tasks.CallerOf(p, ""))
	if ok {
		return nil
	}
	const most = 200
	return rpchttp.NewFailure(http.StatusOK, wire.InvalidParams("/taskId", "unknown task: "+strconv.Quote(id[:min(len(id), most)])), nil)
}

// ownTasks records the owner of a task in a reply, or removes others' tasks from a list.
func (g *Gateway) ownTasks(ctx context.Context, server string, req *wire.Message, reply *upstream.Reply, p *access.Principal) (*upstream.Reply, error) {
	if reply.Result == nil || !tasks.Tells(reply.Result) {
		return reply, nil
	}
	result := g.opt.Tasks.Result(ctx, req.Method, reply.Result, tasks.CallerOf(p, ""), func(id string) tasks.Key { return tasks.Key{Server: server, Task: id} })
	if len(result) == len(reply.Result) {
		return reply, nil
	}
	msg, err := wire.ParseServer(reply.WithResult(result).Raw, g.opt.Masker.LongString())
	if err != nil {
		return nil, err
	}
	return &upstream.Reply{Message: msg, HTTPStatus: reply.HTTPStatus}, nil
}
