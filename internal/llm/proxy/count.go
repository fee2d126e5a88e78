package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// counter is a provider's endpoint that counts the tokens of a request for free.
type counter struct {
	path  string
	takes []string // the members that it accepts; it refuses others
}

// counters are those of the formats. Chat completions have none.
var counters = map[chat.Format]counter{
	chat.Messages: {"/messages/count_tokens", []string{
		"model", "messages", "system", "tools", "tool_choice", "thinking", "cache_control", "output_config", "output_format", "mcp_servers",
		"context_management", "speed",
	}},
	chat.Responses: {"/responses/input_tokens", []string{
		"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation", "conversation",
		"previous_response_id",
	}},
}

const (
	countsAtOnce = 4           // requests to counters in flight, of all conversations
	maxCount     = 64 << 10    // bytes of a counter's response
	countPause   = time.Minute // after a refusal, or longer if the provider asks for it
	maxPause     = time.Hour
)

// counts limits the requests to counters. A provider that refused one is left alone for a while.
type counts struct {
	mu     sync.Mutex // guards the fields below
	flying int
	paused map[string]time.Time // until when, by provider
}

// start reports whether a provider may be asked now. The caller must then call end.
func (c *counts) start(provider string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flying == countsAtOnce || now.Before(c.paused[provider]) {
		return false
	}
	c.flying++
	return true
}

func (c *counts) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying--
}

func (c *counts) pause(provider string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == nil {
		c.paused = map[string]time.Time{}
	}
	c.paused[provider] = until
}

// counting is a request to a counter.
type counting struct {
	done   chan struct{}
	tokens float64 // set when done; 0: refused
}

// Counted compares the provider's count of an unchanged request with what we report.
type Counted struct {
	Provider, Model string
	Sent            float64 // tokens of the request as it was sent, by its usage
	Told            float64 // tokens of the unchanged request, as reported: Sent and the estimated cuts
	Counted         float64 // tokens of the unchanged request, by the provider's counter
}

// startCounting asks the counter beside a sampled request that is sent cut. The request never waits
// for it.
func (x *exchange) startCounting(ctx context.Context, r *http.Request) {
	proof := x.p.opt.Proof
	at, ok := counters[x.at.format]
	if !proof.Count || !ok || x.plan == nil || len(x.plan.Cuts) == 0 || x.conv.Thread == chat.ThreadContinue || shareOf(x.conv.Key()) >= proof.Sample {
		return
	}
	to := x.to.provider
	if !x.p.counts.start(to.name, x.p.opt.Now()) {
		return
	}
	c := &counting{done: make(chan struct{})}
	header := x.p.headersFor(to, r.Header)
	delete(header, "Content-Encoding")
	header["Accept-Encoding"] = []string{"identity"}
	req := &http.Request{Method: http.MethodPost, URL: to.url(at.path, r.URL.RawQuery), Header: header}
	body := x.body
	body.hold()
	isStarted := x.p.books.keep(func() {
		defer x.p.counts.end()
		defer close(c.done)
		defer body.release()
		defer x.survive(ctx)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		tokens, err := x.p.askCounter(ctx, to, req, at.body(body.bytes, x.modelOf(x.conv)))
		if err != nil {
			until := x.p.opt.Now().Add(pauseAfter(err))
			x.p.counts.pause(to.name, until)
			x.p.opt.Log.WarnContext(ctx, "the provider's counter refused a request; it is asked again later", "provider", to.name, "until", until, "err", err)
		}
		c.tokens = tokens
	})
	if !isStarted {
		body.release()
		x.p.counts.end()
		return
	}
	x.counting = c
}

// body returns the members of a request that the counter accepts, byte for byte, for a model.
func (c counter) body(request []byte, model string) []byte {
	out := append(make([]byte, 0, len(request)), '{')
	for name, at := range rawjson.Members(request) {
		if !slices.Contains(c.takes, string(name)) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendQuoted(out, string(name)), ':')
		if string(name) == "model" {
			out = rawjson.AppendQuoted(out, model)
			continue
		}
		out = append(out, at.Of(request)...)
	}
	return append(out, '}')
}

// refusal is a counter's response other than a count.
type refusal struct {
	status int
	wait   time.Duration // asked for by the provider
}

func (r *refusal) Error() string { return "status " + strconv.Itoa(r.status) }

func pauseAfter(err error) time.Duration {
	if r, ok := errors.AsType[*refusal](err); ok {
		return min(max(r.wait, countPause), maxPause)
	}
	return countPause
}

// askCounter returns the count for a body. It does not use [Proxy.send]: a refusal here must not
// change how requests are sent.
func (p *Proxy) askCounter(ctx context.Context, to *provider, req *http.Request, body []byte) (float64, error) {
	if token := p.opt.Tokens[to.name]; token != nil {
		text, err := token(ctx)
		if err != nil {
			return 0, &tokenError{err}
		}
		delete(req.Header, "X-Api-Key")
		req.Header["Authorization"] = []string{"Bearer " + text}
	}
	req.Host, req.Body, req.ContentLength = to.base.Host, io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := p.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return 0, &refusal{res.StatusCode, time.Duration(max(0, min(seconds, 3600))) * time.Second}
	}
	doc, err := io.ReadAll(io.LimitReader(res.Body, maxCount))
	if err != nil {
		return 0, err
	}
	var answer struct {
		Tokens float64 `json:"input_tokens"`
	}
	if err := json.Unmarshal(doc, &answer); err != nil || answer.Tokens <= 0 {
		return 0, fmt.Errorf("no count in the response: %w", err)
	}
	return answer.Tokens, nil
}

// compareCount reports the counter's result once both it and the record are known.
func (x *exchange) compareCount(ctx context.Context, r *chat.Record) {
	c := x.counting
	if c == nil {
		return
	}
	said := Counted{Provider: x.to.provider.name, Model: x.p.modelLabel(x.asked.Name, x.to)}
	said.Sent, said.Told = toldTokens(&r.Account)
	x.p.books.keep(func() {
		<-c.done
		if c.tokens == 0 {
			return
		}
		said.Counted = c.tokens
		x.p.opt.Log.InfoContext(ctx, "prompt counted by the provider", "provider", said.Provider, "model", said.Model, "sent", said.Sent,
			"told", said.Told, "counted", said.Counted, "difference", said.Told-said.Counted)
		if o := x.p.opt.Observer; o != nil {
			o.Counted(ctx, said)
		}
	})
}

// toldTokens returns the tokens of the last counted prompt, as sent and as reported without cuts.
func toldTokens(a *bill.Account) (sent, told float64) {
	return a.Last.Input, a.Last.Input + a.Scale.Count(a.Last.Removed)
}
