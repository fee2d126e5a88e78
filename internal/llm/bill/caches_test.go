package bill_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"secateur/internal/llm/bill"
)

var conversations = flag.Uint64("conversations", 18, "how many conversations with each cache")

// TestNeverAboveWhicheverCache runs a small door that prunes and masks random conversations as the
// account decides, for each kind of cache. At every moment the amount paid is at most the
// pass-through cost.
func TestNeverAboveWhicheverCache(t *testing.T) {
	for name, p := range map[string]struct {
		sim    simulated
		format bill.Format
		model  string
	}{
		"blocks":             {simulated{kind: "blocks", block: 128, minimum: 1024, life: 300, read: 0.1, write: 1}, bill.Chat, "gpt-5"},
		"blocks, nothing":    {simulated{kind: "blocks", block: 64, minimum: 1024, life: 6 * 3600, read: 0.02, write: 1}, bill.Chat, "deepseek-v4"},
		"intervals":          {simulated{kind: "blocks", block: 2048, minimum: 2048, life: 1800, read: 0.1, write: 1, above: 272_000, times: 2}, bill.Responses, "gpt-5.5"},
		"endings":            {simulated{kind: "endings", minimum: 1024, life: 1800, read: 0.1, write: 1.25, above: 272_000, times: 2}, bill.Responses, "gpt-5.6-terra"},
		"endings, cheap":     {simulated{kind: "endings", minimum: 1024, life: 3600, read: 0.05, write: 1.25, above: 272_000, times: 2}, bill.Responses, "gpt-6.1-sol"},
		"markers":            {simulated{kind: "markers", minimum: 1024, read: 0.1, write: 1.25}, bill.Messages, "claude-sonnet-5"},
		"markers, cheap":     {simulated{kind: "markers", minimum: 512, read: 0.025, write: 1.25}, bill.Messages, "claude-fable-5-1"},
		"markers, automatic": {simulated{kind: "markers", minimum: 1024, read: 0.1, write: 1.25, automatic: true}, bill.Messages, "claude-sonnet-5"},
		"markers, a band":    {simulated{kind: "markers", minimum: 512, read: 0.1, write: 1.25, above: 100_000, times: 5}, bill.Messages, "claude-haiku-5-5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prices, ok := bill.Lookup(p.model)
			if !ok {
				t.Fatalf("no prices of %s", p.model)
			}
			terms := prices.In(p.format, p.model)
			if r := terms.Rates; math.Abs(r.Read-p.sim.read) > 1e-9 || r.Write != p.sim.write {
				t.Fatalf("rates of %s are %+v", p.model, r)
			}
			var worst, dear, flat, sum float64
			masked := 0
			for seed := range *conversations {
				d := newDoor(t, seed, terms, p.sim)
				for !t.Failed() && d.turn() {
				}
				worst, dear, flat, masked = max(worst, d.worst), max(dear, d.dear), max(flat, d.flat), masked+d.masked
				sum += d.paid / d.through / float64(*conversations)
			}
			// A change early in a long block hides that the rest was lost.
			if flat > 0.02 || dear > 0.02 && terms.Kind != bill.Intervals {
				t.Errorf("told too much by %.3f, too little by %.3f", dear, flat)
			}
			t.Logf("mean %.3f, worst moment %.4f, told too much by %.3f at most, too little by %.3f, %d masked", sum, worst, dear, flat, masked)
		})
	}
}

// message is a piece of a conversation, as the client sends it and as we send it.
type message struct {
	whole, pruned, masked part // without tokens: this form does not exist
	form                  int  // 0 whole, 1 pruned, 2 masked
	result                bool
	turn                  int
}

func (m *message) sent() part { return []part{m.whole, m.pruned, m.masked}[m.form] }

// style is the shape of a conversation.
type style int

const (
	mixed style = iota
	small       // barely enough for a cache
	busy        // long and without pauses
)

// door is a minimal proxy with just the decisions.
type door struct {
	*rand.Rand

	t                     *testing.T
	terms                 bill.Terms
	paidCache, wholeCache simulated
	// The provider's tokens per token of ours, and the spread of that.
	scale, rough           float64
	pattern                int // where the client puts its marks
	style                  style
	length, turns, request int
	now, last              float64
	messages               []message
	sentMessages           int
	account                bill.Account
	learned                bill.Learned
	silent                 bool // the provider reports no usage
	paid, through          float64
	// The highest ratio, and how far reported ratios were too high or too low.
	worst, dear, flat float64
	masked            int
}

func newDoor(t *testing.T, seed uint64, terms bill.Terms, sim simulated) *door {
	t.Helper()
	d := &door{Rand: rand.New(rand.NewPCG(seed, 3)), t: t, terms: terms, now: 1e9}
	d.scale, d.pattern, d.length, d.silent = 0.6+d.Float64(), d.IntN(7), 5+d.IntN(90), d.IntN(8) == 0
	if seed%2 == 1 {
		d.rough = 0.2
	}
	switch d.style = style(seed / 2 % 3); d.style {
	case small:
		sim.head = 50 + d.IntN(300)
		d.add(20, true, false)
		d.add(30+d.IntN(300), true, false)
	case busy:
		d.length, d.pattern = 60+d.IntN(60), 2+d.IntN(5)
		fallthrough
	default:
		sim.head = 200 + d.IntN(9000)
		d.add(500+d.IntN(1500), true, false)
		d.add(50+d.IntN(3000), true, false)
	}
	if sim.automatic {
		d.pattern = automatic
	}
	d.paidCache, d.wholeCache = sim, sim
	return d
}

func (d *door) part(ours int, ends bool) part {
	return part{id: d.Uint64(), ours: float64(ours), tokens: max(1, int(float64(ours)*d.scale*(1-d.rough/2+d.rough*d.Float64()))), ends: ends}
}

func (d *door) add(ours int, ends, result bool) {
	m := message{whole: d.part(ours, ends), result: result, turn: d.turns}
	if result && ours > 100 {
		m.masked = d.part(40, ends)
	}
	if result && ours > 1200 {
		m.pruned = d.part(700+ours/20, ends)
	}
	d.messages = append(d.messages, m)
}

// automatic is the pattern of a client that lets the provider mark the end of each request.
const automatic = 7

// marks returns where the client asks the cache to store its prompt.
func (d *door) marks() (ours []bill.Mark, theirs []mark) {
	add := func(pieces int, hour bool) {
		if pieces >= 0 {
			ours, theirs = append(ours, bill.Mark{Pieces: pieces, Hour: hour}), append(theirs, mark{pieces - 1, hour})
		}
	}
	n := len(d.messages)
	switch d.pattern {
	case 0: // none
	case 1:
		add(1, false)
	case 2:
		add(1, false)
		add(n, false)
	case 3:
		add(1, true)
		add(n, true)
	case 4:
		add(0, true)
		add(1, true)
		add(n-1, false)
	case 5:
		add(1, false)
		add(n-3, false)
		add(n, false)
	case automatic:
		add(n, false)
	default: // they come and go
		add(1, false)
		if d.request/7%2 == 0 {
			add(n, false)
		}
	}
	return ours, theirs
}

func (d *door) describe(same int, marks []bill.Mark) bill.Request {
	req := bill.Request{
		Head: bill.Size{Tokens: float64(d.paidCache.head) / d.scale}, Sent: d.sentMessages, Same: same, Likely: d.sentMessages, Root: 2, At: d.now, Marks: marks,
	}
	if d.request > 0 {
		req.Pause = d.now - d.last
		req.Cold = d.learned.After(req.Pause, d.terms.With(marks).Cache) != bill.MayBeWarm
	}
	for i := range d.messages {
		m := &d.messages[i]
		p := bill.Piece{Size: bill.Size{Tokens: m.sent().ours}, Result: m.result, Ends: m.whole.ends, Passed: d.turns - m.turn}
		if m.form > 0 {
			p.Removed = bill.Size{Tokens: m.whole.ours}.Less(p.Size)
		}
		if m.result && m.form < 2 && m.masked.tokens > 0 && m.turn < d.turns-8 {
			p.Saves = max(0, p.Size.Tokens-m.masked.ours)
		}
		req.Pieces = append(req.Pieces, p)
	}
	return req
}

// turn sends the conversation and lets the agent continue. It reports whether the agent did.
func (d *door) turn() bool {
	marks, theirs := d.marks()
	for i := d.sentMessages; i < len(d.messages); i++ {
		if d.messages[i].pruned.tokens > 0 {
			d.messages[i].form = 1
		}
	}
	if !d.account.StaysCached(d.terms, d.describe(d.sentMessages, marks)) {
		for i := d.sentMessages; i < len(d.messages); i++ {
			d.messages[i].form = 0
		}
	}
	req := d.describe(d.sentMessages, marks)
	cold := bill.MayBeWarm
	if d.request > 0 {
		cold = d.learned.After(req.Pause, d.terms.With(marks).Cache)
	}
	event := d.account.Choose(bill.Choice{Terms: d.terms, Horizon: 0.4 * float64(d.turns), Request: req, Cold: cold})
	same := d.sentMessages
	for i := event.From; i < len(d.messages); i++ {
		if req.Pieces[i].Saves > 0 {
			d.messages[i].form = 2
			d.masked++
			same = min(same, i)
		}
	}
	d.send(d.describe(same, marks), theirs)
	for range d.IntN(3) {
		d.now += 1 + 20*d.Float64()
	}
	if d.IntN(12) == 0 && d.style != busy {
		d.now += []float64{200, 400, 2500, 5000, 90000}[d.IntN(5)]
	}
	d.turns++
	d.add(30+d.IntN(300), false, false)
	for n := d.IntN(3); n >= 0; n-- {
		sizes := []int{20, 300, 900, 2500, 12000}
		if d.style == small {
			sizes = []int{20, 40, 1300}
		}
		d.add(sizes[d.IntN(len(sizes))]*(50+d.IntN(100))/100+1, n == 0, true)
	}
	if d.IntN(10) == 0 {
		d.add(20+d.IntN(400), true, false)
	}
	return d.request < d.length
}

func (d *door) send(req bill.Request, marks []mark) {
	d.t.Helper()
	var out, whole []part
	for i := range d.messages {
		out, whole = append(out, d.messages[i].sent()), append(whole, d.messages[i].whole)
	}
	c, w := d.paidCache.take(out, marks, d.now), d.wholeCache.take(whole, marks, d.now)
	d.paid, d.through = d.paid+c.cost, d.through+w.cost
	u := bill.Usage{Input: float64(c.input), Cached: float64(c.cached), Told: true, Wrote: float64(c.wrote), Hour: float64(c.hour), WroteTold: true}
	if d.silent {
		d.account = d.account.Estimate(d.terms, req)
	} else {
		d.learned = d.account.Teach(d.learned, d.terms, req, u)
		d.account = d.account.Settle(d.terms, req, u)
	}
	d.last, d.sentMessages = d.now, len(d.messages)
	d.request++
	d.worst = max(d.worst, d.paid/d.through)
	if !d.silent && d.rough == 0 {
		d.dear = max(d.dear, d.account.Ratio()-d.paid/d.through)
		d.flat = max(d.flat, d.paid/d.through-d.account.Ratio())
	}
	if d.paid > d.through*(1+1e-9) {
		d.t.Errorf("request %d of a conversation with marks %d: paid %.0f, passing through %.0f; %s", d.request, d.pattern, d.paid, d.through, fmt.Sprint(c, w))
	}
}
