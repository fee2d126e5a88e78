package admin

import (
	"net/http"
	"strings"

	"secateur/internal/access"
)

// LimitUsage is the state of one bucket of a limit.
type LimitUsage struct {
	Limit     string  `json:"limit"` // name of the limit
	Key       string  `json:"key"`   // values of by, separated by spaces
	Remaining int     `json:"remaining"`
	Reset     float64 `json:"reset_s"`
	InFlight  int     `json:"in_flight"`
	Queued    int     `json:"queued"`

	Burst        int     `json:"burst"`      // maximum of remaining; 0: no rate
	Concurrent   int     `json:"concurrent"` // maximum of in_flight; 0: unlimited
	Queue        int     `json:"queue"`
	TokensToday  int64   `json:"tokens_today"`
	TokensPerDay int64   `json:"tokens_per_day"` // 0: unlimited
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
