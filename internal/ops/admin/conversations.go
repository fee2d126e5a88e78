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

// ConversationDetail is a conversation's account, and the minimum cost of its next request.
type ConversationDetail struct {
	ledger.Account
	Resume *Resume `json:"resume"` // null: prices or tokens are unknown
}

// Resume is the current cost of the prompt of a conversation's last request, without anything new.
// It assumes a warm provider cache, a cold one, and a cold one with nothing cut.
type Resume struct {
	PromptTokens       int64   `json:"prompt_tokens"`
	WarmUSD            float64 `json:"warm_usd"`
	ColdUSD            float64 `json:"cold_usd"`
	PassthroughColdUSD float64 `json:"passthrough_cold_usd"`
}
