package proxy

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/prune"
)

// Observer receives the results of answered requests. Its methods may be called concurrently. It
// gets no text of a conversation, except Goal and Sent of a ResultCut. All names are from closed
// sets.
type Observer interface {
	// Settled receives the cost of a request after its response was sent.
	Settled(ctx context.Context, s Settled)
	// Cut receives a result that was sent cut for the first time.
	Cut(ctx context.Context, c ResultCut)
	// Counted receives a provider's count of a request without our cuts.
	Counted(ctx context.Context, c Counted)
}

// Settled is the result of an answered request.
type Settled struct {
	Provider, Model            string
	Conversation               string  // id of its beginning
	PromptTokens, CachedTokens int64   // the provider's counts; 0: not reported
	Priced                     bool    // the model's prices are known
	Spent, Passthrough         float64 // dollars for the prompt; 0 if not priced
	Masked, Pruned             int     // number of such results
	MaskedTokens, PrunedTokens int     // estimated tokens removed from them
	Barrier                    string  // why earlier results may not be masked; "": they may
	Imitated                   int     // calls in which the model wrote a marker of ours

	// For the comparison with untouched conversations.
	Arm   Arm     // "": not compared
	Paid  float64 // dollars for prompt and output
	First bool    // the request begins its conversation
}

// ResultCut is a result of a conversation that was sent cut.
type ResultCut struct {
	ID              string // of its original
	Masked          bool   // otherwise pruned
	Provider, Model string
	// Characters of the original and of its replacement, and the estimated difference in tokens.
	Chars, Kept, Tokens int
	// Removed lines of the original; empty: all, or parts of lines.
	Removed []prune.Block
	Goal    string // what it was pruned for; content like Sent: not for logs
	Sent    string // its replacement
}

// Ended is the outcome of a request, for the caller that passed it to WithEnded.
type Ended struct {
	Provider string // "": none yet
	Model    string // from a bounded set; "": none yet, or none requested
	Outcome  string
}

type endedKey struct{}

// WithEnded makes the proxy store the outcome of ctx's request in e.
func WithEnded(ctx context.Context, e *Ended) context.Context {
	return context.WithValue(ctx, endedKey{}, e)
}

// ended counts the outcome of a request; to is nil if it had no provider yet.
func (p *Proxy) ended(ctx context.Context, to *provider, how outcome) {
	p.metrics.request(to, how)
	if e, ok := ctx.Value(endedKey{}).(*Ended); ok {
		e.Outcome = string(how)
		if to != nil {
			e.Provider = to.name
		}
	}
}

// tellModel stores the requested model.
func (x *exchange) tellModel(ctx context.Context) {
	if e, ok := ctx.Value(endedKey{}).(*Ended); ok && x.asked.Name != "" {
		e.Model = x.p.modelLabel(x.asked.Name, x.to)
	}
}

// observe reports an answered request. spent and passthrough are its additions to the account.
func (x *exchange) observe(ctx context.Context, usage *bill.Usage, spent, passthrough float64) {
	o := x.p.opt.Observer
	if o == nil || x.at.replay {
		return
	}
	model := x.p.modelLabel(x.asked.Name, x.to)
	s := Settled{Provider: x.to.provider.name, Model: model, Priced: x.to.prices.Input > 0}
	if s.Priced {
		s.Spent, s.Passthrough = spent, passthrough
	}
	if usage != nil {
		s.PromptTokens, s.CachedTokens = int64(usage.Input), int64(usage.Cached)
	}
	s.Barrier, s.Imitated = string(x.effect.barrier), x.effect.imitated
	x.compare(&s, usage)
	if x.plan != nil {
		s.Conversation = x.lane.root
		for _, c := range x.plan.Cuts {
			chars, tokens := x.plan.Taken(c)
			if c.Kind == chat.Masked {
				s.Masked++
				s.MaskedTokens += tokens
			} else {
				s.Pruned++
				s.PrunedTokens += tokens
			}
			if c.New {
				o.Cut(ctx, ResultCut{
					ID: c.ID, Masked: c.Kind == chat.Masked, Provider: s.Provider, Model: model, Chars: chars, Kept: utf8.RuneCountInString(c.Text), Tokens: tokens,
					Removed: x.removed(c), Goal: x.plan.Goal(c), Sent: c.Text,
				})
			}
		}
	}
	o.Settled(ctx, s)
}

// removed lists the lines of the original that a cut removed. Markers have the line numbers that
// the text shows.
func (x *exchange) removed(c chat.Cut) []prune.Block {
	blocks := prune.ReadMarkers(c.Text, c.ID)
	if len(blocks) == 0 {
		return nil
	}
	view := prune.ViewOf(prune.IndexLines(x.plan.Original(c)))
	for i := range blocks {
		at := view.Place(prune.Span{Start: blocks[i].Start, End: blocks[i].End})
		blocks[i].Start, blocks[i].End = at.Start, at.End
	}
	return blocks
}

// other stands for models that are neither configured nor of a well-known family. Clients can make
// up any name.
const other = "other"

// modelLabel returns a name for a model from a bounded set. An alias stands for its model. Names of
// a family in the price table are used unchanged while they are few, and then replaced by the
// family's.
func (p *Proxy) modelLabel(asked string, to target) string {
	if alias, ok := p.opt.Models[asked]; ok {
		if alias.Model == "" {
			return asked
		}
		return alias.Model
	}
	name := to.model
	if name == "" {
		name = asked
	}
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	family, known := bill.Family(name)
	switch {
	case !known:
		return other
	case p.models.take(name):
		return name
	}
	return family
}

// modelNames are the model names that are used unchanged.
type modelNames struct {
	mu    sync.Mutex // guards the field below
	known map[string]bool
}

// Their maximum number and length.
const (
	maxModelNames = 64
	maxModelName  = 64
)

// take reports whether a name is one of them, or has become one.
func (m *modelNames) take(name string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_' && r != ':'
	}
	if len(name) > maxModelName || strings.ContainsFunc(name, odd) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]bool{}
	}
	if !m.known[name] && len(m.known) >= maxModelNames {
		return false
	}
	m.known[name] = true
	return true
}

// cost returns the cost of an uncut prompt in dollars.
func (x *exchange) cost(u *bill.Usage) float64 {
	if u == nil {
		return 0
	}
	return x.to.prices.PromptCost(*u) / 1e6
}

// routeLabel maps a path of a provider's API to a closed set, without the version prefix.
func routeLabel(path string) string {
	for _, known := range []string{
		"/chat/completions", "/completions", "/embeddings", "/messages", "/messages/count_tokens", "/models", "/responses", "/responses/compact",
		"/responses/input_tokens",
	} {
		if strings.HasSuffix(path, known) {
			return known
		}
	}
	return "/*"
}

// isPage reports whether a browser renders this content type, including scripts.
func isPage(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml")
}

// copyAnswerHeaders copies a provider's headers, including its request id. A browser must not treat
// the response as our page: it gets no cookies of a provider, nothing to render, and no script runs
// in our origin.
func copyAnswerHeaders(dst, src http.Header) {
	copyHeaders(dst, src)
	delete(dst, "Set-Cookie")
	delete(dst, "Clear-Site-Data")
	if slices.ContainsFunc(src["Content-Type"], isPage) {
		dst["Content-Type"] = []string{"text/plain; charset=utf-8"}
	}
	dst["X-Content-Type-Options"] = []string{"nosniff"}
	dst["Content-Security-Policy"] = []string{"sandbox"}
}
