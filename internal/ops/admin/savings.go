package admin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/ops/events"
	"secateur/internal/store/history"
)

func (a *API) cuts() Operation {
	return Operation{
		ID: "listCuts", Method: http.MethodGet, Path: "/cuts", Summary: "What was cut lately, the newest first", answer: events.Cut{}, isList: true,
		query: []parameter{
			{name: "server", about: "only what this server's tools gave", is: "string"},
			{name: "feature", about: "only what this feature cut", is: "string", among: features},
		},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			q := r.URL.Query()
			if f := q.Get("feature"); f != "" && !slices.Contains(features, f) {
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "there is no feature "+quoted(f), "known are: "+strings.Join(features, ", "))
			}
			some := keep(a.opt.Events.Cuts(mostLimit), func(c events.Cut) bool {
				return (q.Get("server") == "" || c.Server == q.Get("server")) && (q.Get("feature") == "" || c.Feature == q.Get("feature"))
			})
			return page(r, some, func(c events.Cut) string {
				return c.ID + " " + strconv.FormatInt(c.At.UnixNano(), 36) + " " + c.Feature
			})
		},
	}
}

// features are what cuts.
var features = []string{history.FeatureGateway, history.FeatureMCP, history.FeatureMasked, history.FeaturePruned, history.FeatureHook}

var groups = []string{string(history.ByServer), string(history.ByTool), string(history.ByModel), string(history.ByFeature), string(history.ByDay), string(history.ByHour)}

// Savings are the amounts spent, saved and lost.
type Savings struct {
	history.Totals
	Items []history.Item `json:"items,omitzero"` // by the requested grouping; nil: none
	// conversations that were cut beside those that passed untouched; nil: none passed
	Holdout *history.Holdout `json:"holdout,omitzero"`
	// the counts of other replicas could not be read
	Incomplete bool `json:"incomplete,omitzero"`
}

func (a *API) savings() Operation {
	return Operation{
		ID: "getSavings", Method: http.MethodGet, Path: "/savings", Summary: "What was spent, saved, lost, cut and recovered", answer: Savings{},
		query: savingsQuery,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			q, err := readSavingsQuery(r)
			if err != nil {
				return nil, err
			}
			found, err := a.opt.Savings(q)
			out := Savings{Totals: found.Totals, Holdout: found.Holdout, Incomplete: found.Incomplete}
			if q.By != history.ByNothing {
				out.Items = append([]history.Item{}, found.Items...)
			}
			return out, err
		},
	}
}

var savingsQuery = []parameter{
	{name: "by", about: "also by this", is: "string", among: groups},
	{name: "since", about: "how far back: 24h, 7d, 90m; 7d where it is left out", is: "string"},
}

func readSavingsQuery(r *http.Request) (q history.Query, err error) {
	q.Since = 7 * day
	if q.By, err = history.ParseBy(r.URL.Query().Get("by")); err != nil {
		return q, NewProblem(http.StatusBadRequest, CodeInvalidRequest, err.Error(), "")
	}
	if since := r.URL.Query().Get("since"); since != "" {
		if q.Since, err = ParseSince(since); err != nil {
			return q, NewProblem(http.StatusBadRequest, CodeInvalidRequest, err.Error(), "")
		}
	}
	return q, nil
}

const day = 24 * time.Hour

// ParseSince parses a duration such as 90m, 24h or 7d.
func ParseSince(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n > 0 && n < 36500 {
			return time.Duration(n * float64(day)), nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "since: "+quoted(s)+" is no duration; write 90m, 24h or 7d", "")
}
