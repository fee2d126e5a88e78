package admin

import (
	"net/http"

	"secateur/internal/access"
	"secateur/internal/store/ledger"
)

func (a *API) conversations() Operation {
	return Operation{
		ID: "listConversations", Method: http.MethodGet, Path: "/conversations", Summary: "The accounts of the newest conversations, the newest first",
		answer: ledger.Conversation{}, isList: true,
		query: []parameter{{name: "request", about: "only the one that has the request with this id", is: "string"}},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			return page(r, a.opt.Ledger.List(r.URL.Query().Get("request")), func(c ledger.Conversation) string { return c.ID })
		},
	}
}

func (a *API) conversation() Operation {
	return Operation{
		ID: "getConversation", Method: http.MethodGet, Path: "/conversations/{id}", Summary: "One conversation's account, request by request", answer: ConversationDetail{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			account, ok := a.opt.Ledger.Find(r.PathValue("id"))
			if !ok {
				return nil, NewProblem(http.StatusNotFound, CodeInvalidRequest, "there is no conversation "+quoted(r.PathValue("id")), "GET "+Base+"/conversations lists those that are remembered")
			}
			out := ConversationDetail{Account: account}
			if a.opt.Resume != nil {
				out.Resume = a.opt.Resume(account)
			}
			return out, nil
		},
	}
}

// ConversationDetail is a conversation's account, and what its next request will cost at least.
type ConversationDetail struct {
	ledger.Account
	Resume *Resume `json:"resume"` // null: nothing is known of prices or tokens
}

// Resume is what the prompt of a conversation's last request would cost now, without anything new: with the provider's cache still warm, after
// it has gone cold, and cold with nothing cut.
type Resume struct {
	PromptTokens       int64   `json:"prompt_tokens"`
	WarmUSD            float64 `json:"warm_usd"`
	ColdUSD            float64 `json:"cold_usd"`
	PassthroughColdUSD float64 `json:"passthrough_cold_usd"`
}
