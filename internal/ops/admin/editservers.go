package admin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
)

// ServerEditor changes the servers in the configuration file and reloads it. Its methods return a
// *Problem to refuse. The settings are a JSON object with the keys of [[servers]].
type ServerEditor interface {
	Add(ctx context.Context, settings jsontext.Value) (id string, err error)
	Change(ctx context.Context, id string, settings jsontext.Value) error
	Remove(ctx context.Context, id string) error
	SetDisabled(ctx context.Context, id string, disabled bool) error
	Approve(ctx context.Context, id string) error
}

func (a *API) addServer() Operation {
	return Operation{
		ID: "addServer", Method: http.MethodPost, Path: "/servers", Summary: "Write a server into the configuration file and start it",
		body: jsontext.Value{}, answer: Server{}, status: http.StatusCreated,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			settings, err := readBody[jsontext.Value](r)
			if err != nil {
				return nil, err
			}
			id, err := a.opt.Edit.Add(r.Context(), settings)
			if err != nil {
				return nil, err
			}
			s, err := a.find(id)
			return located{Base + "/servers/" + url.PathEscape(id), s}, err
		},
	}
}

func (a *API) changeServer() Operation {
	return Operation{
		ID: "changeServer", Method: http.MethodPut, Path: "/servers/{id}", Summary: "Write a server of the configuration file anew, and restart it",
		body: jsontext.Value{}, answer: Server{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			settings, err := readBody[jsontext.Value](r)
			if err != nil {
				return nil, err
			}
			s, err := a.find(r.PathValue("id"))
			if err == nil {
				err = matches(r, s)
			}
			if err == nil {
				err = a.opt.Edit.Change(r.Context(), s.ID, settings)
			}
			if err != nil {
				return nil, err
			}
			return a.find(s.ID)
		},
	}
}

func (a *API) removeServer() Operation {
	return Operation{
		ID: "removeServer", Method: http.MethodDelete, Path: "/servers/{id}", Summary: "Take a server out of the configuration file, and end it", status: http.StatusNoContent,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			if err == nil {
				err = matches(r, s)
			}
			if err == nil {
				err = a.opt.Edit.Remove(r.Context(), s.ID)
			}
			return nil, err
		},
	}
}

func (a *API) disable() Operation {
	return a.act("disableServer", "disable", "Write into the configuration file that a server is disabled, and end it", func(ctx context.Context, id string) error {
		return a.opt.Edit.SetDisabled(ctx, id, true)
	})
}

func (a *API) enable() Operation {
	return a.act("enableServer", "enable", "Write into the configuration file that a server is not disabled, and start it", func(ctx context.Context, id string) error {
		return a.opt.Edit.SetDisabled(ctx, id, false)
	})
}

func (a *API) approveServer() Operation {
	return a.act("approveServer", "approve", "Approve a held server as it is configured now, and start it", a.opt.Edit.Approve)
}

// matches refuses a change if If-Match does not match the current state.
func matches(r *http.Request, now any) error {
	tags := r.Header.Values("If-Match")
	if len(tags) == 0 {
		return nil
	}
	body, err := json.Marshal(now, json.Deterministic(true))
	if err != nil {
		return err
	}
	if tag := tagOf(body); !hasTag(tags, tag) {
		return NewProblem(http.StatusPreconditionFailed, CodeInvalidRequest, "it has changed since: its tag is "+tag, "read it again, then decide again")
	}
	return nil
}
