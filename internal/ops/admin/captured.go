package admin

import (
	"net/http"
	"time"

	"secateur/internal/access"
)

// Captured is the captured payload of a request and its response.
type Captured struct {
	Enabled   bool       `json:"enabled"`    // capturing is enabled
	ExpiresAt *time.Time `json:"expires_at"` // null: not captured, or expired
	Request   *Payload   `json:"request"`
	Answer    *Payload   `json:"answer"`
}

// Payload is the beginning of a body, with secrets masked.
type Payload struct {
	Text  string `json:"text"`
	Bytes int64  `json:"bytes"`         // size of the whole body
	Cut   bool   `json:"cut"`           // the text is truncated
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
