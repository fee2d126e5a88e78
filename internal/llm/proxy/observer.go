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

// Observer is told what answered requests came to. Its methods may be called by many goroutines at once. Of the text of a conversation only
// Goal and Sent of a ResultCut reach it, and its names are from closed sets.
type Observer interface {
	// Settled tells what a request has cost, once its answer is out.
	Settled(ctx context.Context, s Settled)
	// Cut tells of a result that went out cut for the first time.
	Cut(ctx context.Context, c ResultCut)
}

// Settled is what an answered request came to.
type Settled struct {
	Provider, Model            string
	Conversation               string  // what its beginning is known by
	PromptTokens, CachedTokens int64   // as the provider counted them; 0: it did not say
	Priced                     bool    // the model's prices are known
	Spent, Passthrough         float64 // dollars, of the prompt; 0 where it is not priced
	Masked, Pruned             int     // results that stand so
	MaskedTokens, PrunedTokens int     // estimates of what these lack
	Barrier                    string  // why what was sent before may not be masked; "": it may
}

// ResultCut is a result of a conversation that went out cut.
type ResultCut struct {
	ID                  string // of its original
	Masked              bool   // else it was pruned
	Provider, Model     string
	Chars, Kept, Tokens int           // of the original, of what stands for it, and an estimate of the difference
	Removed             []prune.Block // lines of the original that went; none: all, or parts of lines
	Goal                string        // what it was pruned for; content, as Sent is: neither is for logs
	Sent                string        // what stands in its place
}

// Ended is how a request ended, for whoever has handed it in with WithEnded.
type Ended struct {
	Provider string // "": it had none yet
	Model    string // out of a bounded set; "": it had none yet, or no model was asked for
	Outcome  string
}

type endedKey struct{}

// WithEnded has it written down how the request of ctx ends.
func WithEnded(ctx context.Context, e *Ended) context.Context {
	return context.WithValue(ctx, endedKey{}, e)
}

// ended counts how a request ended; to is nil where it had no provider yet.
func (p *Proxy) ended(ctx context.Context, to *provider, how outcome) {
	p.metrics.request(to, how)
	if e, ok := ctx.Value(endedKey{}).(*Ended); ok {
		e.Outcome = string(how)
		if to != nil {
			e.Provider = to.name
		}
	}
}

// tellModel writes down which model the request is for.
func (x *exchange) tellModel(ctx context.Context) {
	if e, ok := ctx.Value(endedKey{}).(*Ended); ok && x.asked.Name != "" {
		e.Model = x.p.modelLabel(x.asked.Name, x.to)
	}
}

// observe tells what an answered request came to. Spent and passthrough are what it has added to its account.
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
	s.Barrier = string(x.effect.barrier)
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

// removed lists the lines of the original that a cut took out. Markers have the numbers that the text shows.
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

// other stands for models that are neither configured nor of a well-known family: clients can make up any name.
const other = "other"

// modelLabel is a name for a model out of a bounded set: an alias stands for its model; names of a family in the price table are taken as
// they are, as long as they are few, and then as the family's.
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
	for _, row := range bill.Table() {
		if !strings.HasPrefix(name, row.Models) {
			continue
		}
		if p.models.take(name) {
			return name
		}
		return row.Models
	}
	return other
}

// modelNames are the names of models that stand for themselves.
type modelNames struct {
	mu    sync.Mutex // guards the field below
	known map[string]bool
}

// How many there are, and how long they may be.
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

// cost is what a prompt has cost out of which nothing was cut, in dollars.
func (x *exchange) cost(u *bill.Usage) float64 {
	if u == nil {
		return 0
	}
	return x.to.prices.PromptCost(*u) / 1e6
}

// routeLabel is a path of a provider's API out of a closed set, the newest version's prefix left out.
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

// isPage reports whether a browser renders a type of content, with the scripts in it.
func isPage(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml")
}

// copyAnswerHeaders copies a provider's headers, its id of the request among them. A browser must not take the answer
// for a page of ours: it gets no cookies of a provider, nothing to render, and no script runs in our origin.
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
