package admin

import (
	"net/http"
	"time"

	"secateur/internal/access"
)

// Captured is what a request and its answer said, as far as it is kept.
type Captured struct {
	Enabled   bool       `json:"enabled"`    // anything is kept at all
	ExpiresAt *time.Time `json:"expires_at"` // null: nothing is kept of this one, or not any more
	Request   *Payload   `json:"request"`
	Answer    *Payload   `json:"answer"`
}

// Payload is the beginning of a body, secrets taken out.
type Payload struct {
	Text  string `json:"text"`
	Bytes int64  `json:"bytes"`         // how many passed
	Cut   bool   `json:"cut"`           // there was more than is kept
	Note  string `json:"note,omitzero"` // why there is no text; "": there is
}

func (a *API) captured() Operation {
	return Operation{
		ID: "getPayload", Method: http.MethodGet, Path: "/requests/{id}/payload", Summary: "What a request and its answer said, where admin.capture keeps it", answer: Captured{},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			return a.opt.Captured(p, r.PathValue("id")), nil
		},
	}
}
