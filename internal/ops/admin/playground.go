package admin

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
)

// Playground shows what would be cut, without cutting. It stores nothing.
type Playground struct {
	Text  func(ctx context.Context, p *access.Principal, req TextTrial) (TriedText, error)
	Demos func() []Demo

	Conversation func(ctx context.Context, req RequestTrial) (TriedRequest, error)
}

// TextTrial is a text to prune.
type TextTrial struct {
	Text         string   `json:"text"`
	Goal         string   `json:"goal,omitzero"`
	Type         string   `json:"type,omitzero"`  // code, logs or docs; "": guessed
	Ratio        *float64 `json:"ratio,omitzero"` // maximum fraction of lines to cut; null: a half
	MinKeepLines int      `json:"min_keep_lines,omitzero"`
}

// TriedText is the result of a trial prune.
type TriedText struct {
	Type string `json:"type"`
	Form string `json:"form"` // format of the text: plain, json, diff, …
	// as returned by the tool prune_text and `secateur prune --json`
	Result jsontext.Value `json:"result"`
	// per line; a higher score means more relevant to the goal; null: not ranked by itself
	Scores []*float64 `json:"scores"`
}

// Demo is a sample text.
type Demo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Type  string `json:"type"`
	Goal  string `json:"goal"`
	Text  string `json:"text"`
}

func (a *API) demos() Operation {
	return Operation{
		ID: "listDemos", Method: http.MethodGet, Path: "/playground/demos", Summary: "Texts to try pruning on", answer: Demo{}, isList: true,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			return page(r, a.opt.Playground.Demos(), func(d Demo) string { return d.Name })
		},
	}
}

// usualRatio is the default of `secateur prune`.
const usualRatio = 0.5

func (a *API) playText() Operation {
	return Operation{
		ID: "tryText", Method: http.MethodPost, Path: "/playground/text", Summary: "What a prune of a text would answer, and how each line ranks; nothing is kept", body: TextTrial{}, answer: TriedText{},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			req, err := readBody[TextTrial](r)
			if err != nil {
				return nil, err
			}
			if req.Ratio == nil {
				req.Ratio = new(usualRatio)
			}
			switch {
			case !slices.Contains([]string{"", "code", "logs", "docs"}, req.Type):
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "type: "+quoted(req.Type)+" is none of code, logs, docs", "")
			case *req.Ratio < 0 || *req.Ratio > 1 || math.IsNaN(*req.Ratio):
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "ratio is a number from 0 to 1", "")
			case req.MinKeepLines < 0:
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "min_keep_lines is not negative", "")
			}
			return a.opt.Playground.Text(r.Context(), p, req)
		},
	}
}
