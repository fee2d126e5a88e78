package admin

import (
	"net/http"
	"strconv"

	"secateur/internal/access"
)

// Reloaded describes the changes of a reload, done or simulated.
type Reloaded struct {
	Changed bool     `json:"changed"`
	Added   []string `json:"added"` // servers
	Removed []string `json:"removed"`
	// settings changed; running calls end on the old process
	Restarted     []string `json:"restarted"`
	Unchanged     []string `json:"unchanged"`
	Keys          []string `json:"keys"`           // other changed keys
	RestartNeeded []string `json:"restart_needed"` // changed keys that take effect after a restart
}

func (a *API) reload() Operation {
	return Operation{
		ID: "reload", Method: http.MethodPost, Path: "/reload", Summary: "Read the configuration again and apply what has changed",
		query:  []parameter{{name: "dry_run", about: "true: tell what would change, and change nothing", is: "boolean"}},
		answer: Reloaded{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			dry := false
			if said := r.URL.Query().Get("dry_run"); said != "" {
				var err error
				if dry, err = strconv.ParseBool(said); err != nil {
					return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "dry_run is true or false", "")
				}
			}
			return a.opt.Reload(r.Context(), dry)
		},
	}
}
