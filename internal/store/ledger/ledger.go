// Package ledger remembers what the newest conversations have cost, request by request. It holds counts and money, never contents, and
// forgets with the program: what lasts is in history.
package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"
)

// Conversation is the account of one with a model.
type Conversation struct {
	ID             string  `json:"id"`
	Provider       string  `json:"provider"`
	Model          string  `json:"model"`
	SpentUSD       float64 `json:"spent_usd"`
	PassthroughUSD float64 `json:"passthrough_usd"`

	StartedAt time.Time `json:"started_at"` // its first request that was seen
	LastAt    time.Time `json:"last_at"`
	Count     int       `json:"request_count"`
}

// Request is one that was answered.
type Request struct {
	RequestID      string    `json:"request_id"`
	At             time.Time `json:"at"`
	PromptTokens   int64     `json:"prompt_tokens"`
	CachedTokens   int64     `json:"cached_tokens"`
	Masked         int       `json:"masked"` // results that stand so in it
	Pruned         int       `json:"pruned"`
	SpentUSD       float64   `json:"spent_usd"`
	PassthroughUSD float64   `json:"passthrough_usd"`
	RemovedTokens  int64     `json:"removed_tokens"` // that it lacks, an estimate
	Why            string    `json:"why"`            // what was done, or why nothing was
}

// Account is a conversation with its newest requests, the oldest of them first.
type Account struct {
	Conversation
	Requests []Request `json:"requests"`
}

// How much is remembered.
const (
	maxConversations = 500
	maxRequests      = 200
)

// Ledger remembers. It may be used by many goroutines; the nil *Ledger remembers nothing.
type Ledger struct {
	mu       sync.Mutex
	accounts []*Account // guarded by mu; the newest last
}

// Add writes a request down. The beginning is what its conversation is known by.
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

// List is all conversations, the newest first; with a request's id, only the one that has it.
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

// Find is one conversation's account.
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

// idOf names a conversation with a model, without telling what it begins with.
func idOf(beginning, provider, model string) string {
	sum := sha256.Sum256([]byte(beginning + "\x00" + provider + "\x00" + model))
	return hex.EncodeToString(sum[:8])
}
