package admin

import (
	"net/http"

	"secateur/internal/access"
	"secateur/internal/ledger"
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
		ID: "getConversation", Method: http.MethodGet, Path: "/conversations/{id}", Summary: "One conversation's account, request by request", answer: ledger.Account{},
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			account, ok := a.opt.Ledger.Find(r.PathValue("id"))
			if !ok {
				return nil, NewProblem(http.StatusNotFound, CodeInvalidRequest, "there is no conversation "+quoted(r.PathValue("id")), "GET "+Base+"/conversations lists those that are remembered")
			}
			return account, nil
		},
	}
}
