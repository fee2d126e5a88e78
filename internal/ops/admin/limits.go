package admin

import (
	"net/http"
	"strings"

	"secateur/internal/access"
)

// LimitUsage is how one bucket of a limit stands.
type LimitUsage struct {
	Limit     string  `json:"limit"` // its name
	Key       string  `json:"key"`   // whose bucket it is: the values of by, with a space between them
	Remaining int     `json:"remaining"`
	Reset     float64 `json:"reset_s"`
	InFlight  int     `json:"in_flight"`
	Queued    int     `json:"queued"`

	Burst        int     `json:"burst"`      // what remaining is of; 0: there is no rate
	Concurrent   int     `json:"concurrent"` // what in_flight is of; 0: there is no bound
	Queue        int     `json:"queue"`
	TokensToday  int64   `json:"tokens_today"`
	TokensPerDay int64   `json:"tokens_per_day"` // 0: there is no bound
	USDToday     float64 `json:"usd_today"`
	USDPerDay    float64 `json:"usd_per_day"`
}

func (a *API) limits() Operation {
	return Operation{
		ID: "listLimits", Method: http.MethodGet, Path: "/limits", Summary: "The limits' buckets that are in use", answer: LimitUsage{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			return page(r, a.opt.Limits(), func(u LimitUsage) string { return strings.Join([]string{u.Limit, u.Key}, "\x00") })
		},
	}
}
