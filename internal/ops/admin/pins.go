package admin

import (
	"context"
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
	Found    []Found  `json:"found"`    // the words behind the findings
	Approved bool     `json:"approved"` // a person approved it, and may take that back
}

// Found is a finding with the words that it is about.
type Found struct {
	Finding string   `json:"finding"`
	Words   []string `json:"words"`
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
		ID: "approvePins", Method: http.MethodPost, Path: "/pins/approve", Summary: "Pin the current definitions of a server", body: Approval{}, answer: Approved{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			tools, err := approval(r, a.opt.Approve)
			return Approved{tools}, err
		},
	}
}

// Revoked lists the items whose approval was taken back.
type Revoked struct {
	Revoked []string `json:"revoked"` // as in Pin
}

func (a *API) revoke() Operation {
	return Operation{
		ID: "revokePins", Method: http.MethodPost, Path: "/pins/revoke", Summary: "Take back an approval: the former definition is pinned again", body: Approval{}, answer: Revoked{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			tools, err := approval(r, a.opt.Revoke)
			return Revoked{tools}, err
		},
	}
}

// approval reads what to approve or to revoke, and does it.
func approval(r *http.Request, do func(ctx context.Context, server, tool string) ([]string, error)) ([]string, error) {
	req, err := readBody[Approval](r)
	if err != nil {
		return nil, err
	}
	if req.Server == "" {
		return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "server: missing", "")
	}
	tools, err := do(r.Context(), req.Server, req.Tool)
	return append([]string{}, tools...), err
}
