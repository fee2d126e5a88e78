package admin

import (
	"net/http"

	"secateur/internal/access"
)

// RequestTrial is a pasted request to a model.
type RequestTrial struct {
	Request string `json:"request"`        // its body: chat completions, Messages or Responses
	Model   string `json:"model,omitzero"` // whose prices apply; "": the request's own
}

// TriedRequest is what would be sent for a request. It includes the cost of its conversation so
// far, as if all its requests had come through here.
type TriedRequest struct {
	Format         string          `json:"format"` // chat, messages, responses
	Model          string          `json:"model"`
	Requests       int             `json:"requests"` // of the conversation, including this one
	Prices         *TrialPrices    `json:"prices"`   // null: unknown, so there are no costs
	PassthroughUSD float64         `json:"passthrough_usd"`
	Strategies     []TriedStrategy `json:"strategies"` // as compared by `secateur replay`
	Out            string          `json:"out"`        // the body that would be sent
	Messages       []TriedMessage  `json:"messages"`
}

// TrialPrices are dollars per million tokens.
type TrialPrices struct {
	Input       float64 `json:"input"`
	CachedInput float64 `json:"cached_input"`
	CacheWrite  float64 `json:"cache_write"`
}

// TriedStrategy is the input cost of the conversation with one strategy, and the number of cut
// results in the request.
type TriedStrategy struct {
	Name   string  `json:"name"`
	Chosen bool    `json:"chosen"` // the configured one
	USD    float64 `json:"usd"`
	Ratio  float64 `json:"ratio"` // relative to passing through
	Masked int     `json:"masked"`
	Pruned int     `json:"pruned"`
}

// TriedMessage is a message of the request, or one of its blocks or items.
type TriedMessage struct {
	Message       int    `json:"message"` // index in the request's list, from 0
	Role          string `json:"role"`    // tool for every result
	Tool          string `json:"tool"`
	CallID        string `json:"tool_call_id"`
	How           string `json:"how"` // kept, masked, pruned
	OriginalChars int    `json:"original_chars"`
	KeptChars     int    `json:"kept_chars"`
	TokensBefore  int    `json:"tokens_before"`
	TokensAfter   int    `json:"tokens_after"`
	Text          string `json:"text"` // the beginning of the text that replaces a cut result
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
