// Package ledger remembers the cost of the latest conversations, request by request. It holds
// counts and money, never contents. It lives in memory; package history keeps what lasts.
package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"
)

// Conversation is the summary of a conversation with a model.
type Conversation struct {
	ID             string  `json:"id"`
	Provider       string  `json:"provider"`
	Model          string  `json:"model"`
	SpentUSD       float64 `json:"spent_usd"`
	PassthroughUSD float64 `json:"passthrough_usd"`

	StartedAt time.Time `json:"started_at"` // the first request seen
	LastAt    time.Time `json:"last_at"`
	Count     int       `json:"request_count"`
}

// Request is an answered request.
type Request struct {
	RequestID      string    `json:"request_id"`
	At             time.Time `json:"at"`
	PromptTokens   int64     `json:"prompt_tokens"`
	CachedTokens   int64     `json:"cached_tokens"`
	Masked         int       `json:"masked"` // masked results in it
	Pruned         int       `json:"pruned"`
	SpentUSD       float64   `json:"spent_usd"`
	PassthroughUSD float64   `json:"passthrough_usd"`
	RemovedTokens  int64     `json:"removed_tokens"` // estimate of the tokens cut out of it
	Why            string    `json:"why"`            // what was done, or why nothing was
}

// Account is a conversation with its latest requests, oldest first.
type Account struct {
	Conversation
	Requests []Request `json:"requests"`
}

// Limits.
const (
	maxConversations = 500
	maxRequests      = 200
)

// Ledger remembers conversations. It is safe for concurrent use; the nil *Ledger remembers nothing.
type Ledger struct {
	mu       sync.Mutex
	accounts []*Account // guarded by mu; most recent last
}

// Add records a request. beginning identifies its conversation.
func (l *Ledger) Add(beginning, provider, model string, r Request) {
	if l == nil || beginning == "" {
		return
	}
	id := idOf(beginning, provider, model)
	l.mu.Lock()
	defer l.mu.Unlock()
	var a *Account
	if i := slices.IndexFunc(l.accounts, func(a *Account) bool { return a.ID == id }); i >= 0 {
		a = l.accounts[i]
		l.accounts = slices.Delete(l.accounts, i, i+1)
	} else {
		a = &Account{Conversation: Conversation{ID: id, Provider: provider, Model: model}}
	}
	if l.accounts = append(l.accounts, a); len(l.accounts) > maxConversations {
		l.accounts = slices.Delete(l.accounts, 0, 1)
	}
	if a.Count++; a.StartedAt.IsZero() {
		a.StartedAt = r.At
	}
	a.LastAt = r.At
	a.SpentUSD += r.SpentUSD
	a.PassthroughUSD += r.PassthroughUSD
	if a.Requests = append(a.Requests, r); len(a.Requests) > maxRequests {
		a.Requests = slices.Delete(a.Requests, 0, 1)
	}
}

// List returns all conversations, most recent first. If a request id is given, it returns only the
// conversation with that request.
func (l *Ledger) List(request string) []Conversation {
	all := []Conversation{}
	if l == nil {
		return all
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range slices.Backward(l.accounts) {
		if request == "" || slices.ContainsFunc(a.Requests, func(r Request) bool { return r.RequestID == request }) {
			all = append(all, a.Conversation)
		}
	}
	return all
}

// Find returns one conversation's account.
func (l *Ledger) Find(id string) (Account, bool) {
	if l == nil {
		return Account{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accounts {
		if a.ID == id {
			return Account{a.Conversation, slices.Clone(a.Requests)}, true
		}
	}
	return Account{}, false
}

// idOf returns an id for a conversation with a model that does not reveal its beginning.
func idOf(beginning, provider, model string) string {
	sum := sha256.Sum256([]byte(beginning + "\x00" + provider + "\x00" + model))
	return hex.EncodeToString(sum[:8])
}
