package admin

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"secateur/internal/access"
	"secateur/internal/ops/events"
	"secateur/internal/prune"
	"secateur/internal/store/history"
)

// CutDetail is a cut with its removed and kept parts.
type CutDetail struct {
	events.Cut
	Reason string `json:"reason"` // "": unknown
	// goal of the pruning; "": none, unknown, or not readable by the caller
	Goal       string        `json:"goal"`
	TotalLines int           `json:"total_lines"` // of the original; 0: it no longer exists
	Removed    []events.Part `json:"removed"`
	KeptText   string        `json:"kept_text"` // what was sent instead; "": unknown
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

// detail returns what is known of a cut. Its contents (goal and kept text) are only for callers
// that can read the original, while it exists.
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
	if c.How != nil {
		out.Goal = c.How.Goal
	}
	switch {
	case c.Feature == history.FeatureMasked:
		out.Removed = []events.Part{{StartLine: min(1, out.TotalLines), EndLine: out.TotalLines, EndChar: utf8.RuneCountInString(text), Reason: out.Reason}}
	case c.How != nil && c.How.Sent != nil:
	case c.Feature == history.FeaturePruned && areLines(out.Removed, out.TotalLines):
		plan := prune.Result{Lines: out.TotalLines, Kept: out.TotalLines}
		for _, part := range out.Removed {
			b := prune.Block{Start: part.StartLine, End: part.EndLine, Reason: part.Reason}
			plan.Blocks = append(plan.Blocks, b)
			plan.Kept -= b.Count()
		}
		out.KeptText, _ = prune.Render(text, plan, c.ID, false, true)
	}
	if c.How != nil && c.How.Sent != nil {
		out.KeptText = c.How.Sent(text)
	}
	return out
}

// areLines reports whether the parts are line ranges of a text with this many lines.
func areLines(parts []events.Part, lines int) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p events.Part) bool { return p.StartLine < 1 || p.EndLine > lines })
}
