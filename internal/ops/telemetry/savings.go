package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/ops/events"
	"secateur/internal/store/history"
)

// Savings counts cuts, recoveries and costs of conversations, and passes them on to the history and
// the feed. It is safe for concurrent use; a nil *Savings counts nothing. Callers must use names
// from closed sets.
type Savings struct {
	history *history.History
	feed    *events.Feed

	cuts, chars, tokens        *prometheus.CounterVec // feature, server
	recovered, recoveredTokens *prometheus.CounterVec // feature
	ratio                      *prometheus.GaugeVec   // feature
	spent, through             *prometheus.CounterVec // provider, model
	prompt, cached             *prometheus.CounterVec
	saved, lost                *prometheus.CounterVec // provider, model, feature

	mu    sync.Mutex         // guards the fields below
	known map[string]cutText // by id
	ring  []string           // the ids in known, in order of arrival
	next  int                // index of the next one, once ring is full
	texts map[string]*texts  // by feature
	// tells other replicas what came back of an original; nil: no replicas
	tell func(id string, tokens int64)
}

// cutText is a cut original.
type cutText struct {
	history.Cut
	recovered bool
	elsewhere bool // another replica cut it first, and counts it
}

// texts counts originals, each once.
type texts struct{ cut, recovered float64 }

// maxKnown is the number of originals remembered, to distinguish the first recovery from later
// ones.
const maxKnown = 1 << 14

// NewSavings returns Savings that also feed a history and an event feed, if not nil.
func NewSavings(reg prometheus.Registerer, h *history.History, feed *events.Feed) *Savings {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "secateur_" + name, Help: help}, labels)
	}
	s := &Savings{
		history: h, feed: feed, known: map[string]cutText{}, texts: map[string]*texts{},

		cuts:            counter("cuts_total", "Texts that were cut.", "feature", "server"),
		chars:           counter("cut_chars_total", "Characters that were cut out of them.", "feature", "server"),
		tokens:          counter("cut_tokens_total", "Tokens that were cut out of them, estimated.", "feature", "server"),
		recovered:       counter("recovered_total", "Originals that were asked for at least once.", "feature"),
		recoveredTokens: counter("recovered_tokens_total", "Tokens that came back of originals, estimated.", "feature"),
		ratio: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "secateur_recovery_ratio", Help: "Originals that were asked for at least once over those that were cut.",
		}, []string{"feature"}),
		spent:   counter("chat_spent_dollars_total", "What the prompts of all requests with known prices have cost.", "provider", "model"),
		through: counter("chat_passthrough_dollars_total", "What they would have cost had all been passed through.", "provider", "model"),
		prompt:  counter("chat_prompt_tokens_total", "Tokens of prompts, as the providers counted them.", "provider", "model"),
		cached:  counter("chat_cached_tokens_total", "Of these, tokens that the providers' caches had.", "provider", "model"),
		saved:   counter("chat_saved_dollars_total", "What requests cost less than passing through.", "provider", "model", "feature"),
		lost:    counter("chat_lost_dollars_total", "What requests cost more than passing through.", "provider", "model", "feature"),
	}
	if reg != nil {
		reg.MustRegister(s.cuts, s.chars, s.tokens, s.recovered, s.recoveredTokens, s.ratio, s.spent, s.through, s.prompt, s.cached, s.saved, s.lost)
	}
	return s
}

// Cut counts a text that was cut.
func (s *Savings) Cut(c events.Cut) {
	if s == nil {
		return
	}
	s.cuts.WithLabelValues(c.Feature, c.Server).Inc()
	s.chars.WithLabelValues(c.Feature, c.Server).Add(float64(max(c.OriginalChars-c.KeptChars, 0)))
	s.tokens.WithLabelValues(c.Feature, c.Server).Add(float64(max(c.TokensSaved, 0)))
	cut := history.Cut{Feature: c.Feature, Server: c.Server, Tool: c.Tool, Model: c.Model, Tokens: int64(max(c.TokensSaved, 0))}
	cut.Again = !s.remember(c.ID, cut)
	s.history.Cut(cut)
	s.feed.Publish(c)
}

// remember records an original, and reports whether it is new.
func (s *Savings) remember(id string, c history.Cut) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[id]; ok {
		return false
	}
	s.add(id, cutText{Cut: c})
	s.count(c.Feature, func(t *texts) { t.cut++ })
	return true
}

// add records a new original. The caller holds mu.
func (s *Savings) add(id string, c cutText) {
	if len(s.ring) < maxKnown {
		s.ring = append(s.ring, id)
	} else {
		delete(s.known, s.ring[s.next])
		s.ring[s.next] = id
		s.next = (s.next + 1) % maxKnown
	}
	s.known[id] = c
}

// Tell sets the function that tells other replicas of requested originals, since one of them may
// have counted the cut.
func (s *Savings) Tell(tell func(id string, tokens int64)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
}

// CutElsewhere records a text that another replica has cut. The same text here is then not new, and
// its recovery is not counted here.
func (s *Savings) CutElsewhere(c events.Cut) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[c.ID]; !ok {
		s.add(c.ID, cutText{Cut: history.Cut{Feature: c.Feature}, elsewhere: true})
	}
}

// count changes the counts of a feature and updates their ratio. The caller holds mu.
func (s *Savings) count(feature string, change func(*texts)) {
	t := s.texts[feature]
	if t == nil {
		t = &texts{}
		s.texts[feature] = t
	}
	change(t)
	if t.cut > 0 {
		s.ratio.WithLabelValues(feature).Set(t.recovered / t.cut)
	}
}

// Recovered records the tokens of an original that came back. It counts only cuts by this process.
func (s *Savings) Recovered(id string, tokens int64) {
	if s == nil {
		return
	}
	if tell := s.noteRecovery(id, tokens); tell != nil {
		tell(id, tokens)
	}
}

// RecoveredElsewhere records that another replica gave back a part of an original.
func (s *Savings) RecoveredElsewhere(id string, tokens int64) {
	if s != nil {
		s.noteRecovery(id, tokens)
	}
}

// noteRecovery counts what came back of an original, and the original once. It returns the function
// to tell others, or nil if they need not know.
func (s *Savings) noteRecovery(id string, tokens int64) (tell func(id string, tokens int64)) {
	s.feed.Recovered(id)
	s.mu.Lock()
	cut, ok := s.known[id]
	again := ok && cut.recovered
	count := ok && !cut.elsewhere
	if ok {
		cut.recovered = true
		s.known[id] = cut
	}
	if count && !again {
		s.count(cut.Feature, func(t *texts) { t.recovered++ })
	}
	if !again || !count {
		tell = s.tell
	}
	s.mu.Unlock()
	if !count {
		return tell
	}
	if !again {
		s.recovered.WithLabelValues(cut.Feature).Inc()
	}
	s.recoveredTokens.WithLabelValues(cut.Feature).Add(float64(max(tokens, 0)))
	back := cut.Cut
	back.Tokens, back.Again = max(tokens, 0), again
	s.history.Recovered(back)
	return tell
}

// Counted adds a provider's count of a request without our cuts.
func (s *Savings) Counted(c history.Count) {
	if s != nil {
		s.history.Counted(c)
	}
}

// Trial adds a request of a conversation that is compared with others.
func (s *Savings) Trial(t history.Trial) {
	if s != nil {
		s.history.Trial(t)
	}
}

// Chat counts a request to a provider. Its savings and losses are divided between its features.
func (s *Savings) Chat(e history.Exchange) {
	if s == nil {
		return
	}
	s.prompt.WithLabelValues(e.Provider, e.Model).Add(float64(max(e.PromptTokens, 0)))
	s.cached.WithLabelValues(e.Provider, e.Model).Add(float64(max(e.CachedTokens, 0)))
	e.Spent, e.Passthrough = max(e.Spent, 0), max(e.Passthrough, 0)
	s.spent.WithLabelValues(e.Provider, e.Model).Add(e.Spent)
	s.through.WithLabelValues(e.Provider, e.Model).Add(e.Passthrough)
	for _, share := range e.Shares() {
		if share.Saved > 0 {
			s.saved.WithLabelValues(e.Provider, e.Model, share.Feature).Add(share.Saved)
		}
		if share.Lost > 0 {
			s.lost.WithLabelValues(e.Provider, e.Model, share.Feature).Add(share.Lost)
		}
	}
	s.history.Chat(e)
}
