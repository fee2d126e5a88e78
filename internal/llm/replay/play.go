package replay

import (
	"fmt"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Strategy is a way to treat conversations.
type Strategy struct {
	Name    string
	Masking chat.Settings
	Pruning chat.Pruning
}

// priced reports whether the sent requests depend on the prices.
func (s Strategy) priced() bool { return s.Masking.Enabled && s.Masking.Strategy == chat.Priced }

// Table describes a generation of models: its prices, its cache, and its request format.
type Table struct {
	Name   string
	Rates  bill.Rates
	Kind   bill.Kind
	Format chat.Format
	Model  string // a model of this generation; "": no particular one
}

// prices returns the table in the form of a provider's settings.
func (t Table) prices(ttl float64) bill.Prices {
	cached, write := t.Rates.Read, t.Rates.Write
	p := bill.Prices{Input: 1, CachedInput: &cached, CacheWrite: &write, CacheTTL: ttl, Cache: t.Kind.String()}
	if t.Rates.Hour > 0 {
		p.CacheWriteHour = &t.Rates.Hour
	}
	return p
}

// offer is a model with its prices.
type offer struct {
	model  string
	prices bill.Prices
}

// terms returns the terms for requests in a format.
func (o offer) terms(f chat.Format) bill.Terms {
	return o.prices.In([...]bill.Format{bill.Chat, bill.Messages, bill.Responses}[f], o.model)
}

// player plays the requests of one session.
type player struct {
	session *Session
	ttl     float64
	silent  bool // the provider reports no usage
	ruler   Ruler

	perToken float64 // units of the ruler per token
	hidden   float64 // tokens of each request outside of its messages

	render  *renderer
	through map[bill.Cache][]bill.Prompt // pass-through counts of each request
	whole   [][]piece                    // pieces of each request
	answers [][]piece                    // recorded answers; nil: not recorded
	frozen  map[frozen]string

	progress *progress
}

// frozen identifies the pruned form of a result.
type frozen struct {
	key     chat.Key
	pruning chat.Pruning
}

func newPlayer(s *Session, o Options) *player {
	p := &player{session: s, ttl: o.CacheTTL, silent: o.Silent, frozen: make(map[frozen]string), through: make(map[bill.Cache][]bill.Prompt)}
	p.ruler, p.perToken, p.hidden = characters, s.perToken, s.hidden
	if o.Ruler != nil {
		p.ruler, p.perToken = o.Ruler, 1
		if !s.measured {
			p.hidden = o.Ruler(string(s.tools))
		}
	}
	p.render = newRenderer(p.ruler)
	for i := range s.requests {
		q := &s.requests[i]
		p.whole = append(p.whole, p.render.pieces(s.format, q.list))
		p.answers = append(p.answers, p.render.pieces(s.format, q.answer))
	}
	// Tokens that the provider counted but the recording lacks come before the messages.
	if s.counted > 0 {
		seen := 0.0
		for _, m := range p.whole[0] {
			seen += m.size
		}
		p.hidden = max(p.hidden, s.counted-seen/p.perToken)
	}
	return p
}

// passThrough counts the unchanged requests.
func (p *player) passThrough(of offer) []bill.Prompt {
	c := p.cache(of)
	if known, ok := p.through[c.Cache]; ok {
		return known
	}
	counts := make([]bill.Prompt, len(p.whole))
	for i, prompt := range p.whole {
		q := &p.session.requests[i]
		counts[i] = c.request(prompt, marks(prompt, q.first, q.all), q.at)
	}
	p.through[c.Cache] = counts
	return counts
}

// cache returns an empty cache of a provider.
func (p *player) cache(of offer) *cache {
	return &cache{Cache: of.terms(p.session.format).Cache, ruler: p.ruler, hidden: p.hidden, perToken: p.perToken, timed: p.session.timed}
}

// played is the outcome of a session under a strategy.
type played struct {
	sent   []bill.Prompt
	prompt [][]piece
	last   *chat.Plan // of the last request
}

// play sends every request through the masking as the proxy would, and hands the provider's counts
// back.
func (p *player) play(st Strategy, of offer) (played, error) {
	var out played
	records := make(map[chat.Key]chat.Record)
	c := p.cache(of)
	format := p.session.format
	var body, sent []byte
	referred := make(map[frozen]string)
	var came, went beginning
	for i := range p.session.requests {
		q := &p.session.requests[i]
		body = q.body(body[:0], format)
		conv, err := came.read(format, body)
		if err != nil {
			return out, fmt.Errorf("session %s, request %d: %w", p.session.ID, i, err)
		}
		plan := p.decide(conv, st, of, records, referred, int64(q.at))
		sent = plan.Append(sent[:0])
		after, err := went.read(format, sent)
		if err != nil {
			return out, fmt.Errorf("session %s, request %d as sent: %w", p.session.ID, i, err)
		}
		prompt := p.render.pieces(format, list(after))
		counts := c.request(prompt, marks(prompt, q.first, q.all), q.at)
		records[conv.Key()] = plan.Record(p.usage(counts))
		out.sent = append(out.sent, counts)
		out.prompt = append(out.prompt, prompt)
		out.last = plan
	}
	return out, nil
}

// usage returns the provider's report; nil: none.
func (p *player) usage(c bill.Prompt) *bill.Usage {
	if p.silent {
		return nil
	}
	u := &bill.Usage{Input: c.Total, Cached: c.Cached, Told: true}
	if c.Hour > 0 || c.Plain > 0 {
		u.Hour, u.Wrote, u.WroteTold = c.Hour, c.Total-c.Cached-c.Plain, true
	}
	return u
}

// decide does what the proxy does between reading a request and sending it. referred has the forms
// that depend on what else is sent; the others are the same under every strategy.
func (p *player) decide(
	conv *chat.Conversation, st Strategy, of offer, records map[chat.Key]chat.Record, referred map[frozen]string, now int64,
) *chat.Plan {
	in := chat.Input{
		Conversation: conv, Model: of.model, Masking: st.Masking, Prices: of.prices, Now: now,
		ID: func(string) string { return "prn_00000000000000000000000000" },
	}
	for _, place := range conv.Places() {
		if r, ok := records[place.Key]; ok && r.Messages == place.Messages {
			in.Record = &r
			in.Touched, in.Alone = r.Time, true
			break
		}
	}
	for _, job := range conv.Jobs(st.Pruning, in.Past) {
		name := frozen{job.Key, st.Pruning}
		text, done := p.frozen[name]
		if !done {
			text, done = referred[name]
		}
		if !done {
			job.Sent = in.Pruned
			text, _ = conv.Prune(st.Pruning, job, in.ID(""), nil)
			keep := p.frozen
			if job.Refers() {
				keep = referred
			}
			keep[name] = text // "": sent whole
		}
		if text != "" {
			if in.Pruned == nil {
				in.Pruned = make(map[int]string)
			}
			in.Pruned[job.Message] = text
		}
	}
	return chat.Decide(in)
}
