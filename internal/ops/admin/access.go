package admin

import (
	"net/http"
	"strconv"
	"time"

	"secateur/internal/access"
	"secateur/internal/ops/events"
)

// AccessSettings are the configured access rules and limits.
type AccessSettings struct {
	Asks    bool         `json:"asks"`    // callers need a credential
	Default string       `json:"default"` // if no rule matches: allow, deny
	Audit   string       `json:"audit"`   // off, log, file:PATH
	Pins    string       `json:"pins"`    // off, report, strict
	Rules   []AccessRule `json:"rules"`   // in the order in which they are tried
	Limits  []Limit      `json:"limits"`
}

// AccessRule is one of [[acl]]. An empty list matches everything.
type AccessRule struct {
	Name     string   `json:"name"`
	Action   string   `json:"action"` // allow, deny, redact
	Tenant   []string `json:"tenant"`
	Role     []string `json:"role"`
	Subject  []string `json:"subject"`
	Door     []string `json:"door"`
	Server   []string `json:"server"`
	Tool     []string `json:"tool"`
	Prompt   []string `json:"prompt"`
	Resource []string `json:"resource"`
	Model    []string `json:"model"`
	Route    []string `json:"route"`
	Fields   []string `json:"fields"`
	Patterns []string `json:"patterns"`
	In       []string `json:"in"`
}

// Limit is one of [[limits]]; 0 means none.
type Limit struct {
	Name         string   `json:"name"`
	By           []string `json:"by"`
	Rate         string   `json:"rate"`
	Burst        int      `json:"burst"`
	Concurrent   int      `json:"concurrent"`
	Queue        int      `json:"queue"`
	TokensPerDay int64    `json:"tokens_per_day"`
	USDPerDay    float64  `json:"usd_per_day"`
	Shared       bool     `json:"shared"`
}

func (a *API) access() Operation {
	return Operation{
		ID: "getAccess", Method: http.MethodGet, Path: "/access", Summary: "The rules and limits that are configured", answer: AccessSettings{},
		do: func(*http.Request, *access.Principal) (any, error) { return a.opt.Access(), nil },
	}
}

// NamedToken is a credential by its name. Its value is never shown.
type NamedToken struct {
	Name    string     `json:"name"`
	Tenant  string     `json:"tenant"`
	Roles   []string   `json:"roles"`
	Expires *time.Time `json:"expires"` // null: never
	// source: auth_token, configuration, file, hmac, certificate
	Kept string `json:"kept"`
}

func (a *API) tokens() Operation {
	return Operation{
		ID: "listTokens", Method: http.MethodGet, Path: "/tokens", Summary: "The names of the credentials that are accepted", answer: NamedToken{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			all, err := a.opt.Tokens()
			if err != nil {
				return nil, err
			}
			return page(r, all, func(t NamedToken) string { return t.Kept + " " + t.Name })
		},
	}
}

func (a *API) refusals() Operation {
	return Operation{
		ID: "listRefusals", Method: http.MethodGet, Path: "/refusals", Summary: "Who was refused what lately, the newest first", answer: events.Refusal{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			found := a.opt.Events.Recent(events.TypeRefusal, mostLimit)
			keys := make(map[events.Refusal]string, len(found))
			all := make([]events.Refusal, len(found))
			for i, e := range found {
				all[i], _ = e.Data.(events.Refusal)
				keys[all[i]] = e.ID
			}
			return page(r, all, func(f events.Refusal) string { return keys[f] + " " + strconv.FormatInt(f.At.UnixNano(), 36) })
		},
	}
}
