package aggregate

import (
	"bytes"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// isModernHeader reports whether a request over HTTP says in its headers that it is modern.
func isModernHeader(x downstream.Exchange) bool {
	h := x.Header()
	return h != nil && era.IsModern(h.Get(era.HeaderVersion))
}

// checkModern holds a modern request to the rules of its era: headers (SEP-2243), then _meta.
func checkModern(a request, meta era.Meta) *failure {
	if h := a.x.Header(); h != nil {
		if wrong := era.CheckHeaders(h, a.Message, meta); wrong != nil {
			return badRequest(wrong)
		}
	}
	if missing := meta.Missing(); missing != "" {
		return badRequest(wire.InvalidParams("/_meta", missing))
	}
	if !era.IsModern(meta.Version) {
		return badRequest(era.UnsupportedVersion(meta.Version))
	}
	return nil
}

// paramHeaders checks the headers that repeat a tool's arguments and returns those that its server is to get.
func paramHeaders(a request, tool []byte) ([]era.ParamHeader, *failure) {
	if !bytes.Contains(tool, []byte("x-mcp-header")) {
		return nil, nil
	}
	wanted, err := era.ReadToolHeaders(tool)
	if err != nil || wanted == nil {
		return nil, nil // a tool whose annotations are wrong has none
	}
	arguments := rawjson.Get(a.Params, "arguments")
	if h := a.x.Header(); h != nil && isModernHeader(a.x) && a.via == "" {
		get := func(name string) (string, bool) {
			values := h.Values(name)
			if len(values) == 0 {
				return "", false
			}
			return values[0], true
		}
		if problem := wanted.Check(arguments, get); problem != "" {
			return nil, badRequest(era.HeaderMismatch(problem))
		}
	}
	return wanted.Of(arguments), nil
}
