package admin

import (
	"net/http"
	"unicode/utf8"

	"secateur/internal/access"
	"secateur/internal/events"
	"secateur/internal/history"
	"secateur/internal/prune"
)

// CutDetail is a cut with what went and what stayed.
type CutDetail struct {
	events.Cut
	Reason     string        `json:"reason"`      // "": not known
	TotalLines int           `json:"total_lines"` // of the original; 0: it is not there any more
	Removed    []events.Part `json:"removed"`
	KeptText   string        `json:"kept_text"` // of what was pruned; "": not known, or characters went
}

func (a *API) cut() Operation {
	return Operation{
		ID: "getCut", Method: http.MethodGet, Path: "/cuts/{id}", Summary: "One cut: which parts of the original went, and why", answer: CutDetail{},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			id := r.PathValue("id")
			for _, c := range a.opt.Events.Cuts(mostLimit) {
				if c.ID == id {
					return a.detail(r, p, c), nil
				}
			}
			return nil, NewProblem(http.StatusNotFound, CodePruneIDNotFound, "no cut of the id "+quoted(id)+" is remembered", "GET "+Base+"/cuts lists the newest thousand since the program was started")
		},
	}
}

// detail says what is known of a cut; more where the original is still there and the caller's.
func (a *API) detail(r *http.Request, p *access.Principal, c events.Cut) CutDetail {
	out := CutDetail{Cut: c, Removed: []events.Part{}}
	if c.How != nil {
		out.Reason, out.Removed = c.How.Reason, append(out.Removed, c.How.Parts...)
	}
	if a.opt.Original == nil {
		return out
	}
	text, err := a.opt.Original(r.Context(), p, c.ID)
	if err != nil {
		return out
	}
	out.TotalLines = prune.IndexLines(text).Len()
	switch {
	case c.Feature == history.FeatureMasked:
		out.Removed = []events.Part{{StartLine: min(1, out.TotalLines), EndLine: out.TotalLines, EndChar: utf8.RuneCountInString(text), Reason: out.Reason}}
	case c.Feature == history.FeaturePruned && len(out.Removed) > 0 && out.Removed[len(out.Removed)-1].EndLine <= out.TotalLines:
		plan := prune.Result{Lines: out.TotalLines, Kept: out.TotalLines}
		for _, part := range out.Removed {
			b := prune.Block{Start: part.StartLine, End: part.EndLine, Reason: part.Reason}
			plan.Blocks = append(plan.Blocks, b)
			plan.Kept -= b.Count()
		}
		out.KeptText, _ = prune.Render(text, plan, c.ID, false, true)
	}
	return out
}
