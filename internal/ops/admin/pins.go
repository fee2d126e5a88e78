package admin

import (
	"net/http"

	"secateur/internal/access"
)

// Pin is an item of a server with a pinned definition.
type Pin struct {
	Server   string   `json:"server"`
	Kind     string   `json:"kind"`  // tool, prompt, resource, template, instructions
	Tool     string   `json:"tool"`  // name for approve: of a tool, or as in prompt:NAME
	State    string   `json:"state"` // pinned, changed, new
	Diff     string   `json:"diff"`  // line by line, - pinned, + current; "": unchanged
	Findings []string `json:"findings"`
}

func (a *API) pins() Operation {
	return Operation{
		ID: "listPins", Method: http.MethodGet, Path: "/pins", Summary: "The pinned definitions, and how those that are new or have changed differ", answer: Pin{}, isList: true,
		query: []parameter{{name: "server", about: "only those of this server", is: "string"}},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			all, err := a.opt.Pins()
			if err != nil {
				return nil, err
			}
			if id := r.URL.Query().Get("server"); id != "" {
				all = keep(all, func(p Pin) bool { return p.Server == id })
			}
			return page(r, all, func(p Pin) string { return p.Server + "\x00" + p.Tool })
		},
	}
}

// Approval names what to approve.
type Approval struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitzero"` // as in Pin; "": everything new or changed of the server
}

// Approved lists the newly pinned items.
type Approved struct {
	Approved []string `json:"approved"` // as in Pin
}

func (a *API) approve() Operation {
	return Operation{
		ID: "approvePins", Method: http.MethodPost, Path: "/pins/approve", Summary: "Pin what a server has now", body: Approval{}, answer: Approved{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			req, err := readBody[Approval](r)
			if err != nil {
				return nil, err
			}
			if req.Server == "" {
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "server: missing", "")
			}
			tools, err := a.opt.Approve(r.Context(), req.Server, req.Tool)
			return Approved{append([]string{}, tools...)}, err
		},
	}
}
