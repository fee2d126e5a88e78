package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"secateur/test/provider"
)

// Provider answers Messages and Responses.
type Provider struct {
	Say   Script
	Fault func(n int, r *http.Request) Fault // how the n-th request fails; nil: never
	Now   func() time.Time                   // nil: time.Now

	log log

	mu      sync.Mutex // guards the fields below
	paid    Book
	through Book
	answers int
	kept    map[string][]json.RawMessage // by response id: the items up to its end
	threads map[string]bool              // by message id: whether a thread can continue from it
}

// Turn is what the model sees of a request.
type Turn struct {
	User    string   // the user's last text
	Calls   int      // the model's calls so far in this conversation
	Results []string // those the model has not answered yet
	Tools   []string // names
	Model   string
	Compact bool // Responses: the request asks for a summary
}

// Script returns what the model says.
type Script func(Turn) Reply

// Reply is an answer of the model.
type Reply struct {
	Think    []string // thinking blocks, or reasoning items; "": hidden
	Redacted bool     // the last of them is redacted
	Text     string
	Calls    []Call
}

// Call is a tool call. Input is JSON, or free text for a custom tool of Responses.
type Call struct {
	Name, Input string
	Custom      bool
}

// Fault is a way to fail.
type Fault struct {
	Status int    // of the answer; 0: no failure
	Body   string // of such an answer
	Events int    // events of a stream before it fails; 0: no failure
	Tell   bool   // with an error event; otherwise the connection breaks

	Stream [][]byte        // sent instead of our events, one by one
	Hold   <-chan struct{} // the rest waits for this after the first two events; nil: no wait
}

// Requests returns those that reached a path so far, each with its whole answer; "": all.
func (p *Provider) Requests(path string) []Seen { return p.log.requests(path) }

// Bill returns the cost of a conversation, and its pass-through cost, in units of one uncached
// token.
func (p *Provider) Bill(conversation string) provider.Bill {
	p.mu.Lock()
	defer p.mu.Unlock()
	return provider.Bill{Paid: p.paid.Spent[conversation], Through: p.through.Spent[conversation]}
}

// Through bills a request as the client sent it.
func (p *Provider) Through(path string, header http.Header, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q, model, err := readPrompt(path, header, body); err == nil {
		_, _ = p.through.take(model, header.Get(provider.Header), q, p.now())
	}
}

func readPrompt(path string, header http.Header, body []byte) (prompt, string, error) {
	switch path {
	case messagesPath:
		// Thinking is bound to what was sent, not to this.
		m, err := readMessages(header, body, false)
		if err != nil {
			return prompt{}, "", err
		}
		return m.prompt, m.Model, nil
	case responsesPath:
		r, err := readResponses(body, nil)
		if err != nil {
			return prompt{}, "", err
		}
		return r.prompt, r.Model, nil
	}
	return prompt{}, "", fmt.Errorf("%s has no prompt", path)
}

func (p *Provider) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// The paths that are answered.
const (
	messagesPath    = "/v1/messages"
	countPath       = "/v1/messages/count_tokens"
	responsesPath   = "/v1/responses"
	compactPath     = "/v1/responses/compact"
	inputTokensPath = "/v1/responses/input_tokens"
)

// mostBody is the maximum length of a decoded body.
const mostBody = 64 << 20

// ServeHTTP answers a request.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := decoded(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n := p.log.begin(r, body)
	var out output
	var sent bytes.Buffer
	defer func() { p.log.end(n, out.status, sent.Bytes(), out.counts) }()
	var fault Fault
	if p.Fault != nil {
		fault = p.Fault(n, r)
	}
	out = p.answer(r, body, fault)
	if fault.Stream != nil {
		out.events = fault.Stream
	}
	send(w, r, &sent, out, fault)
}

// decoded reads a body that may be compressed.
func decoded(r *http.Request) ([]byte, error) {
	from := io.Reader(r.Body)
	switch r.Header.Get("Content-Encoding") {
	case "zstd":
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		from = d
	case "gzip":
		d, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		from = d
	}
	return io.ReadAll(io.LimitReader(from, mostBody))
}

// output is an answer before it is sent.
type output struct {
	status int
	header map[string]string
	body   []byte   // JSON
	events [][]byte // a stream, instead of a body
	failed []byte   // the event for a failure in the stream
	counts Counts
}

func (p *Provider) answer(r *http.Request, body []byte, fault Fault) output {
	if fault.Status != 0 {
		return output{status: fault.Status, body: []byte(fault.Body)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Header.Get("Upgrade") != "":
		return responsesError(http.StatusNotImplemented, "server_error", "no upgrade here")
	case r.Method == http.MethodPost && r.URL.Path == messagesPath:
		return p.messages(r.Header, body)
	case r.Method == http.MethodPost && r.URL.Path == countPath:
		return p.countTokens(r.Header, body)
	case r.Method == http.MethodPost && r.URL.Path == responsesPath:
		return p.responses(r.Header, body)
	case r.Method == http.MethodPost && r.URL.Path == compactPath:
		return p.compact(r.Header, body)
	case r.Method == http.MethodPost && r.URL.Path == inputTokensPath:
		return p.inputTokens(r.Header, body)
	}
	return output{status: http.StatusNotFound, body: []byte(`{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}`)}
}

// send writes an answer, as far as the fault allows.
func send(w http.ResponseWriter, r *http.Request, sent *bytes.Buffer, out output, fault Fault) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_1")
	for name, v := range out.header {
		w.Header().Set(name, v)
	}
	to := io.MultiWriter(w, sent)
	if out.events == nil {
		w.Header().Set("Content-Length", fmt.Sprint(len(out.body)))
		w.WriteHeader(out.status)
		if fault.Events > 0 {
			_, _ = to.Write(out.body[:len(out.body)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = to.Write(out.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(out.status)
	for i, e := range out.events {
		if fault.Events > 0 && i == fault.Events {
			if fault.Tell {
				_, _ = to.Write(out.failed)
				return
			}
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		if fault.Hold != nil && i == 2 {
			select {
			case <-fault.Hold:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = to.Write(e)
		_ = http.NewResponseController(w).Flush()
	}
}

func event(name string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, b)
}

// RoundTrip answers a request without a network.
func (p *Provider) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	p.ServeHTTP(rec, r)
	return rec.Result(), nil
}
