package admin

import (
	"net/http"

	"secateur/internal/access"
)

// RequestTrial is a request to a model, pasted.
type RequestTrial struct {
	Request string `json:"request"`        // its body: chat completions, Messages or Responses
	Model   string `json:"model,omitzero"` // whose prices count; "": the request's own
}

// TriedRequest is what would go out for a request, and what its conversation would have cost up to it if all of its requests had
// come through here.
type TriedRequest struct {
	Format         string          `json:"format"` // chat, messages, responses
	Model          string          `json:"model"`
	Requests       int             `json:"requests"` // of the conversation, this one included
	Prices         *TrialPrices    `json:"prices"`   // null: not known, so that no costs are told
	PassthroughUSD float64         `json:"passthrough_usd"`
	Strategies     []TriedStrategy `json:"strategies"` // as `secateur replay` compares them
	Out            string          `json:"out"`        // the body that would go out
	Messages       []TriedMessage  `json:"messages"`
}

// TrialPrices are dollars per million tokens.
type TrialPrices struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	CacheWrite  float64 `json:"cache_write"`
}

// TriedStrategy is what the conversation would have cost in input, and how many results of the request are cut.
type TriedStrategy struct {
	Name   string  `json:"name"`
	Chosen bool    `json:"chosen"` // it is what is configured
	USD    float64 `json:"usd"`
	Ratio  float64 `json:"ratio"` // to passing through
	Masked int     `json:"masked"`
	Pruned int     `json:"pruned"`
}

// TriedMessage is a message of the request, or one of its blocks or items.
type TriedMessage struct {
	Message       int    `json:"message"` // its place in the request's list, from 0
	Role          string `json:"role"`    // tool for every result
	Tool          string `json:"tool"`
	CallID        string `json:"tool_call_id"`
	How           string `json:"how"` // kept, masked, pruned
	OriginalChars int    `json:"original_chars"`
	KeptChars     int    `json:"kept_chars"`
	TokensBefore  int    `json:"tokens_before"`
	TokensAfter   int    `json:"tokens_after"`
	Text          string `json:"text"` // the beginning of what stands for a result that is cut
}

func (a *API) playConversation() Operation {
	return Operation{
		ID: "tryRequest", Method: http.MethodPost, Path: "/playground/conversation",
		Summary: "What would go out for a request, and what its conversation would have cost up to it; nothing is sent and nothing is kept", body: RequestTrial{}, answer: TriedRequest{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			req, err := readBody[RequestTrial](r)
			if err != nil {
				return nil, err
			}
			return a.opt.Playground.Conversation(r.Context(), req)
		},
	}
}
