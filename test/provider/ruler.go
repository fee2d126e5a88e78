package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Header names the conversation of a request.
const Header = "X-Conversation"

// Ruler answers chat completions and bills each conversation.
type Ruler struct {
	Terms Terms
	Now   func() time.Time
	Fail  func(r *http.Request) int // the status to refuse a request with; 0: none. nil: never
	Quiet bool                      // answers have no usage
	Split Tokenizer                 // nil: [Tokens]

	mu      sync.Mutex // guards the fields below
	paid    Cache
	through Cache
	bills   map[string]*Bill
	read    map[string][]uint64 // tokens of messages seen before
	last    map[string]last     // the last request of each conversation that reached the provider
}

// last is a request, raw and parsed.
type last struct {
	raw      []byte
	messages []json.RawMessage
}

// Bill is the cost of a conversation.
type Bill struct{ Paid, Through float64 }

// Ratio returns the amount paid divided by the pass-through cost.
func (b Bill) Ratio() float64 {
	if b.Through == 0 {
		return 1
	}
	return b.Paid / b.Through
}

// body is a request's body.
type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    json.RawMessage   `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
}

func parse(raw []byte) (body, error) {
	var b body
	err := json.Unmarshal(raw, &b)
	return b, err
}

// prompt returns what a model would read: the tools, then every message. The caller holds the lock.
func (r *Ruler) prompt(b body) (prompt []uint64) {
	if r.read == nil {
		r.read = map[string][]uint64{}
	}
	split := r.Split
	if split == nil {
		split = Tokens
	}
	add := func(raw json.RawMessage, say func() string) {
		tokens, ok := r.read[string(raw)]
		if !ok {
			split(say(), func(t uint64) { tokens = append(tokens, t) })
			r.read[string(raw)] = tokens
		}
		prompt = append(prompt, tokens...)
	}
	add(b.Tools, func() string { return string(b.Tools) })
	for _, raw := range b.Messages {
		add(raw, func() string { return "\n<" + text(raw) + ">" })
	}
	return prompt
}

// text returns the text of a message: its strings, decoded.
func text(raw json.RawMessage) string {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return string(raw)
	}
	var content string
	if json.Unmarshal(m.Content, &content) != nil {
		content = string(m.Content)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", m.Role, m.CallID, content)
	for _, c := range m.Calls {
		fmt.Fprintf(&b, " %s %s %s", c.ID, c.Function.Name, c.Function.Arguments)
	}
	return b.String()
}

// Sizes returns the tokens before the messages of a request, and in each of them.
func (r *Ruler) Sizes(raw []byte) (before int, messages []int) {
	b, err := parse(raw)
	if err != nil {
		return 0, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := b.Messages
	b.Messages = nil
	before = len(r.prompt(b))
	for _, m := range all {
		messages = append(messages, len(r.prompt(body{Messages: []json.RawMessage{m}}))-len(r.prompt(body{})))
	}
	return before, messages
}

// scope returns what the cache is keyed by besides the prompt.
func (b body) scope() string { return b.Model }

func (r *Ruler) bill(talk string) *Bill {
	if r.bills == nil {
		r.bills, r.paid.Terms, r.through.Terms = map[string]*Bill{}, r.Terms, r.Terms
	}
	if r.bills[talk] == nil {
		r.bills[talk] = &Bill{}
	}
	return r.bills[talk]
}

// Through bills a request as the client sent it.
func (r *Ruler) Through(talk string, raw []byte) {
	b, err := parse(raw)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bill := r.bill(talk)
	bill.Through += r.Terms.Cost(r.through.Take(b.scope(), r.prompt(b), r.Now()))
}

// Bill returns the cost of a conversation so far.
func (r *Ruler) Bill(talk string) Bill {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.bill(talk)
}

// Last returns the last request of a conversation that reached the provider.
func (r *Ruler) Last(talk string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[talk].raw
}

// LastMessages returns the messages of that request.
func (r *Ruler) LastMessages(talk string) []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[talk].messages
}

// RoundTrip answers a request without a network.
func (r *Ruler) RoundTrip(req *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	status, kind, answer := r.answer(req, raw)
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {kind}}, ContentLength: int64(len(answer)), Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

// ServeHTTP answers a request.
func (r *Ruler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	status, kind, answer := r.answer(req, raw)
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer) //nolint:gosec // it is JSON or an event stream, as its type says
}

func (r *Ruler) answer(req *http.Request, raw []byte) (status int, kind, answer string) {
	b, err := parse(raw)
	if err != nil {
		return http.StatusBadRequest, "application/json", `{"error":{"message":"no JSON"}}`
	}
	if r.Fail != nil {
		if status := r.Fail(req); status != 0 {
			return status, "application/json", `{"error":{"message":"try again"}}`
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bill := r.bill(req.Header.Get(Header))
	if r.last == nil {
		r.last = map[string]last{}
	}
	r.last[req.Header.Get(Header)] = last{raw, b.Messages}
	counts := r.paid.Take(b.scope(), r.prompt(b), r.Now())
	bill.Paid += r.Terms.Cost(counts)
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":20,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		counts.Input, counts.Input+20, counts.Cached)
	if r.Quiet {
		usage = "null"
	}
	answer = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":` + usage + `}`
	if b.Stream {
		return http.StatusOK, "text/event-stream", "data: " + answer + "\n\ndata: [DONE]\n\n"
	}
	return http.StatusOK, "application/json", answer
}

// Pass bills a request that reaches the provider directly, without the program.
func (r *Ruler) Pass(talk string, raw []byte) {
	b, err := parse(raw)
	if err != nil {
		return
	}
	r.Through(talk, raw)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bill(talk).Paid += r.Terms.Cost(r.paid.Take(b.scope(), r.prompt(b), r.Now()))
}

// Bills returns those of all conversations.
func (r *Ruler) Bills() map[string]Bill {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]Bill{}
	for name, b := range r.bills {
		all[name] = *b
	}
	return all
}
