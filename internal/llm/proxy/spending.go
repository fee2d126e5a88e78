package proxy

import (
	"bytes"
	"net/http"
	"slices"

	"secateur/internal/access"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// spend counts the cost of a request against its caller's budgets. If the provider reported none,
// or the response is incomplete, the cost is estimated from what was sent and received. Hanging up,
// or omitting the usage, is not cheaper.
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
	usd := prices.Cost(u) / 1e6
	x.p.opt.Admission.Spend(x.who, x.asked, int64(u.Input+u.Output), usd)
}

// promptGuess estimates how many tokens were sent.
func (x *exchange) promptGuess() float64 {
	if x.conv == nil {
		return float64(x.size) / bytesPerToken
	}
	return max(1, x.conv.Tokens()-float64(x.effect.saved))
}

// charged returns the prices for budgets. An unknown price counts as the highest known one. A model
// is free only if the settings say so for input and output.
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

// dearest returns the highest prices in the table and the settings.
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

// bytesPerToken is a low estimate of the bytes per token.
const bytesPerToken = 3

// guess measures the text of a response as it passes. In a stream it counts only the model's
// output, not the rest of each event.
type guess struct {
	names  []string // members of events with the model's output; nil: all bytes count
	line   []byte   // the beginning of an incomplete event
	bytes  int
	events int // events with output
}

// saidIn lists the members that contain the model's output in a stream, once.
var saidIn = [...][]string{
	chat.Completions: {"content", "reasoning", "reasoning_content", "refusal", "arguments", "text"},
	chat.Messages:    {"text", "thinking", "partial_json"},
	chat.Responses:   {"delta"},
}

// maxGuessLine is how much of a line is buffered. A longer line counts as a whole.
const maxGuessLine = 256 << 10

func newGuess(format chat.Format, res *http.Response) *guess {
	if !isEventStream(res.Header) || isEncoded(res.Header) {
		return &guess{}
	}
	return &guess{names: saidIn[format]}
}

// tokens estimates the tokens of the output. Each event with output has at least one.
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

// take counts the strings of a line that are the model's output.
func (g *guess) take(line []byte) {
	before := g.bytes
	said := false // the current member is output
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

// endOfString returns the end of the string at the start of text, before its closing quote.
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
