package aggregate

import (
	"bytes"
	"fmt"
	"net/http"

	"secateur/internal/downstream"
	"secateur/internal/era"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

const headerVersion = "Mcp-Protocol-Version"

// isModernHeader reports whether a request over HTTP says in its headers that it is modern.
func isModernHeader(x downstream.Exchange) bool {
	h := x.Header()
	return h != nil && era.IsModern(h.Get(headerVersion))
}

// checkModern holds a modern request to the rules of its era.
func checkModern(a asked, meta era.Meta) *failure {
	if h := a.x.Header(); h != nil {
		if failed := checkHeaders(h, a.Message, meta); failed != nil {
			return failed
		}
	}
	if missing := meta.Missing(); missing != "" {
		return badRequest(rpc.InvalidParams("/_meta", missing))
	}
	if !era.IsModern(meta.Version) {
		return unsupportedVersion(meta.Version)
	}
	return nil
}

// checkHeaders compares the headers with what they repeat.
func checkHeaders(h http.Header, req *rpc.Message, meta era.Meta) *failure {
	if meta.HasVersion {
		if failed := checkHeader(h, headerVersion, meta.Version); failed != nil {
			return failed
		}
	}
	if failed := checkHeader(h, "Mcp-Method", req.Method); failed != nil {
		return failed
	}
	if target, named := targetOf(req); named {
		return checkHeader(h, "Mcp-Name", target)
	}
	return nil
}

// targetOf is what the header Mcp-Name repeats, where a method has it.
func targetOf(req *rpc.Message) (string, bool) {
	switch req.Method {
	case "tools/call", "prompts/get":
		return req.Name, true
	case "resources/read":
		return req.URI, true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return req.Task, true
	}
	return "", false
}

func checkHeader(h http.Header, name, want string) *failure {
	values := h.Values(name)
	if len(values) == 0 {
		return mismatch(fmt.Sprintf("header %s is missing", name))
	}
	got, ok := era.DecodeHeader(values[0])
	if len(values) > 1 || !ok || got != want {
		return mismatch(fmt.Sprintf("header %s is not what the message says", name))
	}
	return nil
}

func mismatch(text string) *failure {
	return badRequest(rpc.NewError(rpc.CodeHeaderMismatch, "header mismatch: "+text))
}

// paramHeaders checks the headers that repeat a tool's arguments and returns those that its server is to get.
func paramHeaders(a asked, tool []byte) ([]era.ParamHeader, *failure) {
	if !bytes.Contains(tool, []byte("x-mcp-header")) {
		return nil, nil
	}
	wanted, err := era.ReadToolHeaders(tool)
	if err != nil || wanted == nil {
		return nil, nil // a tool whose annotations are wrong has none
	}
	arguments := rawjson.Get(a.Params, "arguments")
	if h := a.x.Header(); h != nil && isModernHeader(a.x) {
		get := func(name string) (string, bool) {
			values := h.Values(name)
			if len(values) == 0 {
				return "", false
			}
			return values[0], true
		}
		if problem := wanted.Check(arguments, get); problem != "" {
			return nil, mismatch(problem)
		}
	}
	return wanted.Of(arguments), nil
}
