package admin

import (
	"context"
	"net/http"
	"strings"

	"secateur/internal/access"
)

// Server is one configured MCP server.
type Server struct {
	ID string `json:"id"`
	// starting, ready, degraded, restarting, down, disabled, held, stopped
	State     string   `json:"state"`
	Era       string   `json:"era"`       // legacy, modern; "": not known yet
	Protocol  string   `json:"protocol"`  // the version in use
	Transport string   `json:"transport"` // stdio, http, sse, rpc, builtin
	PID       *int     `json:"pid"`       // null: no process of ours
	Uptime    float64  `json:"uptime_s"`
	Restarts  int      `json:"restarts"`
	LastError string   `json:"last_error"` // the last failure, even after a recovery
	InFlight  int      `json:"in_flight"`
	Tools     int      `json:"tools"` // number of listed tools
	Resources int      `json:"resources"`
	Prompts   int      `json:"prompts"`
	Tokens    int      `json:"tokens"`   // of its definitions, estimated
	Problems  []string `json:"problems"` // listed items that cannot be used

	Sandbox     string   `json:"sandbox"`      // a profile or "table"; "": none
	SandboxGaps []string `json:"sandbox_gaps"` // the parts of it that the system cannot enforce
}

func (a *API) servers() Operation {
	return Operation{
		ID: "listServers", Method: http.MethodGet, Path: "/servers", Summary: "The configured servers", answer: Server{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			return page(r, a.opt.Servers(), func(s Server) string { return s.ID })
		},
	}
}

func (a *API) server() Operation {
	return Operation{
		ID: "getServer", Method: http.MethodGet, Path: "/servers/{id}", Summary: "One server", answer: Server{},
		do: func(r *http.Request, _ *access.Principal) (any, error) { return a.find(r.PathValue("id")) },
	}
}

// find returns the server with an id.
func (a *API) find(id string) (Server, error) {
	var known []string
	for _, s := range a.opt.Servers() {
		if s.ID == id {
			return s, nil
		}
		known = append(known, s.ID)
	}
	return Server{}, NewProblem(http.StatusNotFound, CodeUnknownServer, "there is no server "+quoted(id), "known are: "+strings.Join(known, ", "))
}

// Stderr is the end of a server process's standard error.
type Stderr struct {
	Lines []string `json:"lines"`
}

func (a *API) stderr() Operation {
	return Operation{
		ID: "getServerStderr", Method: http.MethodGet, Path: "/servers/{id}/stderr",
		Summary: "The end of what a server's process wrote to its standard error, secrets masked",
		query:   []parameter{{name: "lines", about: "how many at most; 100 where it is left out", is: "integer"}}, answer: Stderr{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			n, err := numberOf(r, "lines", usualLimit, mostLimit)
			return Stderr{append([]string{}, a.opt.Stderr(s.ID, n)...)}, err
		},
	}
}

func (a *API) restart() Operation {
	return a.act("restartServer", "restart", "Restart a server; the answer comes once it is ready or has failed", a.opt.Restart)
}

func (a *API) refresh() Operation {
	return a.act("refreshServer", "refresh", "Ask a server for its lists again", a.opt.Refresh)
}

// act returns an operation that does something to one server and returns its state.
func (a *API) act(id, verb, summary string, do func(ctx context.Context, id string) error) Operation {
	return Operation{
		ID: id, Method: http.MethodPost, Path: "/servers/{id}/" + verb, Summary: summary, answer: Server{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			if err := do(r.Context(), s.ID); err != nil {
				return nil, err
			}
			return a.find(s.ID)
		},
	}
}
