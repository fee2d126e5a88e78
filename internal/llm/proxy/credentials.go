package proxy

import (
	"maps"
	"net/http"
	"strings"

	"secateur/internal/llm/chat"
)

// headerAccount names the account of a client that is signed in with ChatGPT.
const headerAccount = "Chatgpt-Account-Id"

// credentialHeaders identify a client or its account.
var credentialHeaders = [...]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", headerAccount}

// isSignedIn reports whether a client uses the token of a ChatGPT account instead of an API key.
func isSignedIn(r *http.Request) bool {
	return r.Header.Get(headerAccount) != "" || asksAsCodex(r) && !strings.HasPrefix(credential(r.Header.Get("Authorization")), "sk-")
}

// asksAsCodex reports whether a client requests the model list in Codex's form, which only
// ChatGPT's backend has.
func asksAsCodex(r *http.Request) bool {
	return isModelList(r) && r.URL.Query().Has("client_version")
}

func isModelList(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.TrimPrefix(r.URL.Path, "/v1") == "/models"
}

// hasKey reports whether we use our own credential for a provider instead of the client's.
func (p *Proxy) hasKey(to *provider) bool { return !to.APIKey.IsZero() || p.opt.Tokens[to.name] != nil }

// isForeign reports whether a provider other than ChatGPT would see the token of a ChatGPT account.
func (p *Proxy) isForeign(to *provider, h http.Header) bool {
	return h.Get(headerAccount) != "" && !to.isChatGPT() && !p.hasKey(to)
}

// addressee returns the provider for which a client's credentials are meant, by the format and the
// headers of its request; nil: none.
func (p *Proxy) addressee(r *http.Request) *provider {
	format := formatOf(r)
	to := p.fallbackIn(format, isSignedIn(r))
	if to == nil || len(p.providers) > 1 && !to.speaks(format) || p.isForeign(to, r.Header) {
		return nil
	}
	return to
}

// shownTo returns the client's headers for a provider, without credentials meant for another.
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

// formatOf returns the format of a path's clients.
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
	// No other format's clients send these.
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "":
		return chat.Messages
	}
	return chat.Completions
}
