package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/config"
	"secateur/internal/config/suggest"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/telemetry"
	"secateur/internal/rawjson"
)

// callTool calls a tool for the control plane, under the rules and limits of the door admin, and
// uncut.
func (a *App) callTool(ctx context.Context, p *access.Principal, name string, arguments jsontext.Value) (admin.Called, error) {
	began := time.Now()
	out := admin.Called{RequestID: telemetry.RequestID(ctx)}
	result, failed, err := a.callOne(ctx, p, name, arguments)
	if err != nil {
		return out, err
	}
	out.Result, out.Error = result, failed
	out.MS = float64(time.Since(began).Microseconds()) / 1000
	return out, nil
}

// callOne returns the tool's raw result or a raw JSON-RPC error. err is a *admin.Problem or the
// error of ctx.
func (a *App) callOne(ctx context.Context, p *access.Principal, name string, arguments []byte) (result, failed []byte, err error) {
	member := a.servers.Join(pool.Client{Era: era.Legacy}, nil)
	defer member.Leave()
	server, tool, ok := a.resolveTool(ctx, member, name)
	if !ok {
		return nil, a.unknownTool(p, name).Append(nil), nil
	}
	params := rawjson.AppendQuoted([]byte(`{"name":`), tool)
	params = append(append(append(params, `,"arguments":`...), arguments...), '}')
	target := access.Target{Door: access.DoorAdmin, Server: server, Kind: access.KindTool, Name: tool}
	permit, refused := a.live.Load().admission.AskListed(ctx, p, "tools/call", member, target)
	if refused != nil && refused.Hides() {
		return nil, a.unknownTool(p, name).Append(nil), nil
	}
	if refused != nil {
		return nil, nil, asProblem(refused)
	}
	written := 0
	defer func() { permit.Done(len(params), written) }()
	conn, release, err := member.Hold(ctx, server)
	if err != nil {
		return nil, a.callFailed(server, err), ctx.Err()
	}
	defer release()
	params = permit.RedactParams(params)
	req := wire.NewRequest(wire.StringID("control"), "tools/call", params)
	reply, err := conn.Call(access.NewContext(ctx, p), &req, upstream.CallOptions{Header: a.paramHeaders(conn, tool, params)})
	if err != nil {
		return nil, a.callFailed(server, err), ctx.Err()
	}
	defer reply.Release()
	if reply.Error != nil {
		failed = bytes.Clone(permit.RedactResult(reply.Error))
	} else {
		result = bytes.Clone(permit.RedactResult(reply.Result))
	}
	written = len(result) + len(failed)
	return result, failed, nil
}

// resolveTool finds the server of a tool name. It tries the contract's form first, which waits for
// no server, then any form that the doors accept. A tool that its server does not list is not
// found.
func (a *App) resolveTool(ctx context.Context, m *pool.Member, name string) (server, tool string, ok bool) {
	server, tool, ok = strings.Cut(name, catalog.ContractSeparator)
	if ok && a.lists(server, tool) {
		return server, tool, true
	}
	all, _ := m.Catalog(ctx)
	server, tool, ok = all.For("").ResolveTool(name)
	return server, tool, ok && a.lists(server, tool)
}

// lists reports whether a server has a tool, according to its last known list.
func (a *App) lists(server, tool string) bool {
	d, known := a.servers.Details(server)
	if server == config.PrunerID && a.live.Load().pruner.HasTool(tool) { // it lists fewer to MCP clients
		return true
	}
	return known && !d.Settings.Off() && (len(d.Lists.Tools) == 0 || definitionOf(d.Lists, tool) != nil)
}

// definitionOf returns a tool's definition from its server's list; nil: not listed.
func definitionOf(lists catalog.ServerLists, name string) []byte {
	for _, raw := range lists.Tools {
		if rawjson.GetText(raw, "name") == name {
			return raw
		}
	}
	return nil
}

func (a *App) unknownTool(p *access.Principal, name string) *wire.Error {
	e := wire.InvalidParams("/name", "")
	e.Message = fmt.Sprintf("unknown tool: %.200s", name)
	var known []string
	for _, t := range a.controlTools(p) {
		known = append(known, t.Name)
	}
	if near := suggest.Nearest(name, known); near != "" {
		e.Data.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

// callFailed returns the raw error for a call that no server answered.
func (a *App) callFailed(server string, err error) []byte {
	if errors.Is(err, pool.ErrUnknownServer) {
		return wire.NewError(wire.CodeUnknownServer, err.Error()).Append(nil)
	}
	return upstream.RPCError(server, err).Append(nil)
}

// paramHeaders returns the headers in which a modern server wants arguments repeated (SEP-2243).
func (a *App) paramHeaders(conn *pool.Conn, tool string, params []byte) (all []upstream.Header) {
	d, _ := a.servers.Details(conn.ID())
	wanted, err := era.ReadToolHeaders(definitionOf(d.Lists, tool))
	if err != nil || wanted == nil || conn.Era() != era.Modern {
		return nil
	}
	for _, h := range wanted.Of(rawjson.Get(params, "arguments")) {
		all = append(all, upstream.Header{Name: h.Name, Value: h.Value})
	}
	return all
}

// asProblem turns a refusal of access control into a problem.
func asProblem(r *admission.Refusal) *admin.Problem {
	e, status, header := r.Error()
	p := admin.NewProblem(status, e.Data.Code, e.Message, e.Data.Hint)
	p.Rule, p.Header = r.Rule, header
	return p
}
