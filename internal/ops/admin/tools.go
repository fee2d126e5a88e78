package admin

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
)

// Tool is a tool that a server lists.
type Tool struct {
	Name   string `json:"name"` // server::tool
	Server string `json:"server"`
	Tool   string `json:"tool"`         // the server's own name
	Tokens int    `json:"tokens"`       // of its definition, estimated
	Pin    string `json:"pin"`          // state of its pin; "": not pinned
	Off    bool   `json:"off,omitzero"` // hidden by tools or exclude_tools of its server
}

func (a *API) tools() Operation {
	return Operation{
		ID: "listTools", Method: http.MethodGet, Path: "/tools", Summary: "The tools of all servers, with what their definitions cost", answer: Tool{}, isList: true,
		query: []parameter{{name: "server", about: "only those of this server", is: "string"}},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			all := a.opt.Tools(p)
			if id := r.URL.Query().Get("server"); id != "" {
				if a.opt.Servers != nil {
					if _, err := a.find(id); err != nil {
						return nil, err
					}
				}
				all = keep(all, func(t Tool) bool { return t.Server == id })
			}
			return page(r, all, func(t Tool) string { return t.Name })
		},
	}
}

// FoundTool is a tool that serves a query.
type FoundTool struct {
	Name        string  `json:"name"`        // server::tool
	Signature   string  `json:"signature"`   // (path: string, limit?: integer)
	Description string  `json:"description"` // its first sentence
	Score       float64 `json:"score"`       // 0 to 1; 1 is the best, or a name
}

// FoundTools are the tools that serve a query, best first.
type FoundTools struct {
	Tools []FoundTool `json:"tools"`
}

// SearchPath is where tools are found, below Base.
const SearchPath = "/tools/search"

func (a *API) findTools() Operation {
	return Operation{
		ID: "findTools", Method: http.MethodGet, Path: SearchPath, Summary: "The tools that serve a query, as find_tools ranks them", answer: FoundTools{},
		query: []parameter{
			{name: "q", about: "what is wanted, in words, or a tool's name", is: "string"},
			{name: "limit", about: "how many at most; default 5, at most 20", is: "integer"},
		},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			query, limit := r.URL.Query().Get("q"), 5
			if query == "" {
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "q is missing", "say what is wanted: ?q=read+a+file")
			}
			if text := r.URL.Query().Get("limit"); text != "" {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 || n > 20 {
					return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "limit: expected a number from 1 to 20", "")
				}
				limit = n
			}
			return FoundTools{append([]FoundTool{}, a.opt.FindTools(p, query, limit)...)}, nil
		},
	}
}

// keep is the items of a list that pass.
func keep[T any](all []T, pass func(T) bool) (some []T) {
	for _, item := range all {
		if pass(item) {
			some = append(some, item)
		}
	}
	return some
}

// CallRequest names a tool and its arguments.
type CallRequest struct {
	Tool      string         `json:"tool"`               // server::tool
	Arguments jsontext.Value `json:"arguments,omitzero"` // an object; omitted: {}
}

// Called is the outcome of a tool call: a result, or an error.
type Called struct {
	Result    jsontext.Value `json:"result,omitzero"` // the server's result, uncut
	Error     jsontext.Value `json:"error,omitzero"`  // a JSON-RPC error
	RequestID string         `json:"request_id"`
	MS        float64        `json:"ms"`
}

// CallPath is the path for tool calls, below Base.
const CallPath = "/call"

func (a *API) call() Operation {
	return Operation{
		ID: "callTool", Method: http.MethodPost, Path: CallPath, Summary: "Call a tool; its result is not cut", body: CallRequest{}, answer: Called{},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			req, err := readBody[CallRequest](r)
			if err != nil {
				return nil, err
			}
			if len(req.Arguments) == 0 {
				req.Arguments = jsontext.Value("{}")
			}
			if req.Tool == "" || req.Arguments.Kind() != '{' {
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "a call is {\"tool\": \"server::tool\", \"arguments\": {…}}", "")
			}
			return a.opt.Call(r.Context(), p, req.Tool, req.Arguments)
		},
	}
}
