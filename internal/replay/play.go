package replay

import (
	"fmt"

	"secateur/internal/bill"
	"secateur/internal/chat"
)

// Strategy is a way to treat conversations.
type Strategy struct {
	Name    string
	Masking chat.Settings
	Pruning chat.Pruning
}

// priced tells whether what is sent depends on the prices.
func (s Strategy) priced() bool { return s.Masking.Enabled && s.Masking.Strategy == chat.Priced }

// Table is a price table.
type Table struct {
	Name  string
	Rates bill.Rates
}

// prices gives a table as what a provider's settings would say.
func (t Table) prices(ttl float64) bill.Prices {
	cached, write := t.Rates.Read, t.Rates.Write
	return bill.Prices{Input: 1, CachedInput: &cached, CacheWrite: &write, CacheTTL: ttl}
}

// player plays the requests of one session.
type player struct {
	session *Session
	ttl     float64
	silent  bool // the provider does not tell what it counts
	ruler   Ruler

	perToken float64 // of what the ruler measures
	hidden   float64 // tokens of each request that are not in its messages

	render  *renderer
	through []bill.Prompt // what each request counts if it is passed through
	whole   [][]*rendered // its messages
	answers []*rendered   // what was answered; nil where that is not known
	frozen  map[frozen]string
}

// frozen names the pruned form of a result.
type frozen struct {
	key     chat.Key
	pruning chat.Pruning
}

func newPlayer(s *Session, o Options) *player {
	p := &player{session: s, ttl: o.CacheTTL, silent: o.Silent, frozen: make(map[frozen]string)}
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
		prompt := make([]*rendered, len(q.messages))
		for j, m := range q.messages {
			prompt[j] = p.render.render(m)
		}
		p.whole = append(p.whole, prompt)
		var answer *rendered
		if q.answer != nil {
			answer = p.render.render(q.answer)
		}
		p.answers = append(p.answers, answer)
	}
	p.through = p.passThrough(bill.Prices{CacheTTL: p.ttl})
	return p
}

// passThrough counts the requests as they came.
func (p *player) passThrough(prices bill.Prices) []bill.Prompt {
	c := p.cache(prices)
	counts := make([]bill.Prompt, len(p.whole))
	for i, prompt := range p.whole {
		counts[i] = c.request(prompt, p.session.requests[i].at)
	}
	return counts
}

// cache is an empty cache of a provider with these prices.
func (p *player) cache(prices bill.Prices) *cache {
	c := &cache{Cache: prices.Terms().Cache, ruler: p.ruler, hidden: p.hidden, perToken: p.perToken}
	if p.session.timed {
		c.ttl = prices.CacheTTL
	}
	return c
}

// played is what became of a session under a strategy.
type played struct {
	sent   []bill.Prompt
	prompt [][]*rendered
}

// play sends every request through the masking as a proxy would, and hands the
// provider's counts back.
func (p *player) play(st Strategy, prices bill.Prices) (played, error) {
	var out played
	records := make(map[chat.Key]chat.Record)
	c := p.cache(prices)
	var body, sent []byte
	var came, went beginning
	for i := range p.session.requests {
		q := &p.session.requests[i]
		body = q.body(body[:0])
		conv, err := came.read(body)
		if err != nil {
			return out, fmt.Errorf("session %s, request %d: %w", p.session.ID, i, err)
		}
		plan := p.decide(conv, st, prices, records, int64(q.at))
		sent = plan.Append(sent[:0])
		after, err := went.read(sent)
		if err != nil {
			return out, fmt.Errorf("session %s, request %d as sent: %w", p.session.ID, i, err)
		}
		prompt := make([]*rendered, len(after.Messages))
		for j := range after.Messages {
			prompt[j] = p.render.render(after.Raw(j))
		}
		counts := c.request(prompt, q.at)
		usage := &bill.Usage{Input: counts.Total, Cached: counts.Cached, Told: true}
		if p.silent {
			usage = nil
		}
		records[conv.Key()] = plan.Record(usage)
		out.sent = append(out.sent, counts)
		out.prompt = append(out.prompt, prompt)
	}
	return out, nil
}

// decide does what the proxy does between reading a request and sending it.
func (p *player) decide(
	conv *chat.Conversation, st Strategy, prices bill.Prices, records map[chat.Key]chat.Record, now int64,
) *chat.Plan {
	in := chat.Input{
		Conversation: conv, Masking: st.Masking, Prices: prices, Now: now,
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
			text, _ = conv.Prune(st.Pruning, job, in.ID(""), nil)
			p.frozen[name] = text // "" where it passes whole
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
