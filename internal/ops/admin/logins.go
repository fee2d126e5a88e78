package admin

import (
	"context"
	"net/http"
	"time"

	"secateur/internal/access"
)

// Login is a person's sign-in with a server.
type Login struct {
	Server      string     `json:"server"`
	Issuer      string     `json:"issuer"`
	Subject     string     `json:"subject"`
	ExpiresAt   *time.Time `json:"expires_at"` // nil: unknown
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

// SignIn is a sign-in with a server that was started here.
type SignIn struct {
	State string `json:"state"`          // none, waiting, done, failed
	URL   string `json:"url,omitzero"`   // waiting: the address that the person must open
	Error string `json:"error,omitzero"` // failed: the reason
}

// States of a sign-in.
const (
	SignInNone    = "none"
	SignInWaiting = "waiting"
	SignInDone    = "done"
	SignInFailed  = "failed"
)

// SignIns let a person sign in with servers.
type SignIns struct {
	Begin func(ctx context.Context, server string) (address string, err error)
	State func(server string) SignIn
	End   func(server string) error // also cancels a running one
}

const signInPath = "/servers/{id}/login"

func (a *API) beginSignIn() Operation {
	return Operation{
		ID: "beginLogin", Method: http.MethodPost, Path: signInPath,
		Summary: "Begin a sign-in with a server; a person has to open the address on the machine that secateur runs on", answer: SignIn{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			address, err := a.opt.SignIns.Begin(r.Context(), s.ID)
			return SignIn{State: SignInWaiting, URL: address}, err
		},
	}
}

func (a *API) signInState() Operation {
	return Operation{
		ID: "getLogin", Method: http.MethodGet, Path: signInPath, Summary: "How far a sign-in is that was begun here", answer: SignIn{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			return a.opt.SignIns.State(s.ID), err
		},
	}
}

func (a *API) endSignIn() Operation {
	return Operation{
		ID: "deleteLogin", Method: http.MethodDelete, Path: signInPath, Summary: "Sign out of a server", status: http.StatusNoContent,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			s, err := a.find(r.PathValue("id"))
			if err != nil {
				return nil, err
			}
			return nil, a.opt.SignIns.End(s.ID)
		},
	}
}
