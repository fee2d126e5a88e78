package proxy

import (
	"bytes"
	"net/http"
	"slices"

	"secateur/internal/access"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// spend counts what a request cost against the budgets of its caller. Where the provider has not said, or the answer has not come to its end, what was
// sent and what has passed are estimated: to leave out the usage, or to hang up, is not cheaper.
func (x *exchange) spend(told *bill.Usage, ended outcome) {
	if !x.counts || x.asked == (access.Target{}) {
		return
	}
	var u bill.Usage
	if told != nil {
		u = *told
	} else {
		u.Input = x.promptGuess()
	}
	if u.Output == 0 || ended.broken() {
		u.Output = max(u.Output, x.said.tokens())
	}
	prices := x.p.charged(x.to)
	usd := (prices.PromptCost(u) + u.Output*prices.Output) / 1e6
	x.p.opt.Admission.Spend(x.who, x.asked, int64(u.Input+u.Output), usd)
}

// promptGuess is about how many tokens were sent.
func (x *exchange) promptGuess() float64 {
	if x.conv == nil {
		return float64(x.size) / bytesPerToken
	}
	return max(1, x.conv.Tokens()-float64(x.effect.saved))
}

// charged returns the prices that budgets count with. A price that is not known counts as the dearest that is; a model is free only if the
// settings say so of input and output.
func (p *Proxy) charged(to target) bill.Prices {
	prices := to.prices
	if to.told && prices.Input == 0 {
		return prices
	}
	if prices.Input == 0 {
		prices = bill.Prices{Input: p.dearest.Input}
	}
	if prices.Output == 0 {
		prices.Output = p.dearest.Output
	}
	return prices
}

// dearest returns the highest prices that the table and the settings know.
func (o Options) dearest() bill.Prices {
	var told []bill.Prices
	for _, p := range o.Providers {
		if p.Prices != nil {
			told = append(told, *p.Prices)
		}
	}
	for _, m := range o.Models {
		if m.Prices != nil {
			told = append(told, *m.Prices)
		}
	}
	return bill.Dearest(told...)
}

// bytesPerToken is how many bytes of a text make a token, rather too few than too many.
const bytesPerToken = 3

// guess counts the text of an answer as it passes. Of a stream it counts what the model says, and not what is around it in each event.
type guess struct {
	names  []string // the members of events that hold what the model says; nil: all bytes count
	line   []byte   // the beginning of an event whose end has not come
	bytes  int
	events int // that say something
}

// saidIn are the names of the members in which a stream tells what the model says, once.
var saidIn = [...][]string{
	chat.Completions: {"content", "reasoning", "reasoning_content", "refusal", "arguments", "text"},
	chat.Messages:    {"text", "thinking", "partial_json"},
	chat.Responses:   {"delta"},
}

// maxGuessLine is how much of a line is held. All of a longer one counts.
const maxGuessLine = 256 << 10

func newGuess(format chat.Format, res *http.Response) *guess {
	if !isEventStream(res.Header) || isEncoded(res.Header) {
		return &guess{}
	}
	return &guess{names: saidIn[format]}
}

// tokens is about how many tokens the model has said. An event that says something has one at least.
func (g *guess) tokens() float64 {
	if g == nil {
		return 0
	}
	return max(float64(g.bytes)/bytesPerToken, float64(g.events))
}

func (g *guess) read(p []byte) {
	if g.names == nil {
		g.bytes += len(p)
		return
	}
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if len(g.line)+len(line) > maxGuessLine {
			g.bytes += len(g.line)
			g.line = g.line[:0]
		}
		g.line = append(g.line, line...)
		if !ended {
			return
		}
		g.take(g.line)
		g.line, p = g.line[:0], rest
	}
}

// take counts the strings of a line that are what the model says.
func (g *guess) take(line []byte) {
	before := g.bytes
	said := false // the member that is read now is one of them
	for {
		open := bytes.IndexByte(line, '"')
		if open < 0 {
			break
		}
		line = line[open+1:]
		end := endOfString(line)
		text := line[:end]
		line = line[min(end+1, len(line)):]
		if rest := bytes.TrimLeft(line, " \t"); len(rest) > 0 && rest[0] == ':' {
			said = g.isSaid(text)
			continue
		}
		if said {
			g.bytes += len(text)
		}
	}
	if g.bytes > before {
		g.events++
	}
}

func (g *guess) isSaid(name []byte) bool {
	return slices.Contains(g.names, string(name))
}

// endOfString is where the string that text begins with ends, in front of its quote.
func endOfString(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
