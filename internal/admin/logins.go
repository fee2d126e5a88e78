package admin

import (
	"net/http"
	"time"

	"secateur/internal/access"
)

// Login is a person's sign-in with a server.
type Login struct {
	Server      string     `json:"server"`
	Issuer      string     `json:"issuer"`
	Subject     string     `json:"subject"`
	ExpiresAt   *time.Time `json:"expires_at"` // nil: it does not say
	Refreshable bool       `json:"refreshable"`
}

func (a *API) logins() Operation {
	return Operation{
		ID: "listLogins", Method: http.MethodGet, Path: "/logins", Summary: "Who is signed in with which server, and until when", answer: Login{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			all, err := a.opt.Logins()
			if err != nil {
				return nil, err
			}
			return page(r, all, func(l Login) string { return l.Server })
		},
	}
}
