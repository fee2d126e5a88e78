package proxy

import (
	"maps"
	"net/http"
	"strings"

	"secateur/internal/llm/chat"
)

// headerAccount names the account of a client that is signed in with ChatGPT.
const headerAccount = "Chatgpt-Account-Id"

// credentialHeaders show who a client is, or whose account it uses.
var credentialHeaders = [...]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", headerAccount}

// isSignedIn reports whether a client shows the token of a ChatGPT account, and not an API key.
func isSignedIn(r *http.Request) bool {
	return r.Header.Get(headerAccount) != "" || asksAsCodex(r) && !strings.HasPrefix(credential(r.Header.Get("Authorization")), "sk-")
}

// asksAsCodex reports whether a client asks for the list of models in Codex's form. Only the backend of ChatGPT has it.
func asksAsCodex(r *http.Request) bool {
	return isModelList(r) && r.URL.Query().Has("client_version")
}

func isModelList(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.TrimPrefix(r.URL.Path, "/v1") == "/models"
}

// hasKey reports whether a provider is shown a credential of ours in the place of the client's.
func (p *Proxy) hasKey(to *provider) bool { return !to.APIKey.IsZero() || p.opt.Tokens[to.name] != nil }

// isForeign reports whether a provider would be shown the token of a ChatGPT account, and is not ChatGPT.
func (p *Proxy) isForeign(to *provider, h http.Header) bool {
	return h.Get(headerAccount) != "" && !to.isChatGPT() && !p.hasKey(to)
}

// addressee is the provider that a client's credentials are for, by the format and the headers of its request; nil: none.
func (p *Proxy) addressee(r *http.Request) *provider {
	format := formatOf(r)
	to := p.fallbackIn(format, isSignedIn(r))
	if to == nil || len(p.providers) > 1 && !to.speaks(format) || p.isForeign(to, r.Header) {
		return nil
	}
	return to
}

// shownTo returns the client's headers as a provider may see them: without credentials that are for another.
func (p *Proxy) shownTo(to *provider, r *http.Request) http.Header {
	if to == p.addressee(r) {
		return r.Header
	}
	h := maps.Clone(r.Header)
	for _, name := range credentialHeaders {
		delete(h, name)
	}
	return h
}

// formatOf is the format that the clients of a path speak.
func formatOf(r *http.Request) chat.Format {
	switch below := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case isBelow(below, "/messages"):
		return chat.Messages
	case isBelow(below, "/responses"):
		return chat.Responses
	case isBelow(below, "/chat/completions"):
		return chat.Completions
	case r.Header.Get(headerAccount) != "", asksAsCodex(r):
		return chat.Responses
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "": // clients of no other format send these
		return chat.Messages
	}
	return chat.Completions
}
