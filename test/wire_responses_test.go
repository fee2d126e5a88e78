package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"secateur/test/llm"
)

const responsesPath = "/v1/responses"

// codex is a client of Responses that writes its requests by hand, as Codex does: everything in
// each request.
type codex struct {
	t     *testing.T
	url   string
	model string
	extra string   // members of the request, each followed by a comma
	items []string // JSON
	calls []string // ids of the last answer's calls
	state string   // the turn's state, to be returned
	pack  string   // compression of bodies
}

func newCodex(t *testing.T, url, model string) *codex {
	t.Helper()
	return &codex{t: t, url: url, model: model, items: []string{
		`{"type":"additional_tools","id":"at_1","role":"developer","tools":[{"type":"custom","name":"exec"},{"type":"function","name":"read_file"}]}`,
		`{"type":"message","role":"developer","content":[{"type":"input_text","text":"` + strings.Repeat("You read logs. ", 300) + `"}]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"Why does the build fail?"}]}`,
	}}
}

func (c *codex) body() string {
	return fmt.Sprintf(`{"model":%q, %s"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","input":[%s]}`, c.model, c.extra, strings.Join(c.items, ", "))
}

func (c *codex) post(path, body string) answer {
	c.t.Helper()
	var packed bytes.Buffer
	switch c.pack {
	case "zstd":
		z, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1))
		if err != nil {
			c.t.Fatal(err)
		}
		_, _ = io.WriteString(z, body)
		_ = z.Close()
	case "gzip":
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, body)
		_ = z.Close()
	default:
		packed.WriteString(body)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+path, &packed)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = http.Header{
		"Authorization": {"Bearer sk-client"}, "Content-Type": {"application/json"}, "X-Conversation": {c.t.Name()}, "Session-Id": {"s"}, "Thread-Id": {"s"},
		"Originator": {"codex_exec"}, "X-Codex-Turn-Metadata": {`{"a":1}`}, "X-Openai-Internal-Codex-Responses-Lite": {"true"},
	}
	if c.state != "" {
		req.Header.Set("X-Codex-Turn-State", c.state)
	}
	if c.pack != "" {
		req.Header.Set("Content-Encoding", c.pack)
	}
	return answerTo(req)
}

// ask sends the conversation and adds the answer to it.
func (c *codex) ask() answer {
	c.t.Helper()
	a := c.post(responsesPath, c.body())
	if a.status != http.StatusOK {
		c.t.Fatalf("answered %d: %s", a.status, a.body)
	}
	c.state = a.header.Get("X-Codex-Turn-State")
	c.take(a.body)
	return a
}

func (c *codex) take(body string) {
	c.t.Helper()
	var said struct {
		Output []json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		c.t.Fatal(err)
	}
	c.calls = nil
	for _, raw := range said.Output {
		c.items = append(c.items, string(raw))
		var it struct {
			CallID string `json:"call_id"`
		}
		if json.Unmarshal(raw, &it) == nil && it.CallID != "" {
			c.calls = append(c.calls, it.CallID)
		}
	}
}

// outputs answers the calls with values of "output".
func (c *codex) outputs(kind string, values ...string) {
	c.t.Helper()
	if len(values) != len(c.calls) {
		c.t.Fatalf("%d outputs for %d calls", len(values), len(c.calls))
	}
	for i, v := range values {
		c.items = append(c.items, `{"type":"`+kind+`_output","call_id":"`+c.calls[i]+`","output":`+v+`}`)
	}
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// executing is a model that calls that many custom tools each time.
func executing(calls int) llm.Script {
	return func(turn llm.Turn) llm.Reply {
		r := llm.Reply{Think: []string{"why?"}, Text: "I look for tokenTable."}
		for i := range calls {
			r.Calls = append(r.Calls, llm.Call{Name: "exec", Custom: true, Input: fmt.Sprintf("cat build-%d.log", turn.Calls+i)})
		}
		return r
	}
}

// Codex is told at once to use HTTP.
func TestUpgradeIsAnswered426(t *testing.T) {
	w := startWire(t, "openai", executing(1), -1, -1)
	address := strings.TrimPrefix(w.daemon.Load().url, "http://")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/responses HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer sk-client\r\nOpenAI-Beta: responses_websockets=2026-02-06\r\n\r\n", address)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	var e providerError
	if res.StatusCode != http.StatusUpgradeRequired || json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
		t.Errorf("answered %d: %s", res.StatusCode, body)
	}
	if n := len(w.provider.Requests("")); n != 0 {
		t.Errorf("%d requests reached the provider", n)
	}
}

// Outputs are pruned once and stay as sent, whatever happens to the program. Bodies may be
// compressed; the turn's state comes back.
func TestPrunedOutputsStayForEver(t *testing.T) {
	for _, pack := range []string{"", "zstd", "gzip"} {
		t.Run("packed "+pack, func(t *testing.T) {
			w := startWire(t, "openai", executing(2), -1, -1)
			c := newCodex(t, w.url, "gpt-5.6-sol")
			c.pack = pack
			turn := func(n int) {
				c.ask()
				if want := fmt.Sprintf("turn-resp_%04d", n+1); c.state != want {
					t.Errorf("the turn's state is %q, want %q", c.state, want)
				}
				c.outputs("custom_tool_call", quoted("Chunk ID: "+strconv.Itoa(n)+"\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"+bigLog(2*n)),
					`[{"type":"input_text","text":"Script completed\nOutput:\n"},{"type":"input_text","text":`+quoted(bigLog(2*n+1))+`},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]`)
			}
			for n := range 3 {
				turn(n)
			}
			w.restart(t, syscall.SIGTERM)
			turn(3)
			w.restart(t, syscall.SIGKILL)
			turn(4)
			c.ask()
			if n := w.changedIn(t, responsesPath, -1); n != 10 {
				t.Errorf("%d outputs stand pruned, want 10", n)
			}
			w.checkAll(t, responsesPath)
			if b := w.provider.Bill(t.Name()); b.Ratio() >= 1 {
				t.Errorf("%.4f of the bill was paid", b.Ratio())
			}
		})
	}
}

// Compaction and counting read what was sent: nothing else is cut, the trigger stays last.
func TestCompactionReadsWhatWasSent(t *testing.T) {
	w := startWire(t, "openai", executing(1), -1, -1)
	c := newCodex(t, w.url, "gpt-5.6-sol")
	for n := range 3 {
		c.ask()
		c.outputs("custom_tool_call", quoted(bigLog(n)))
	}
	before := len(c.items)
	c.ask()
	c.items = c.items[:before]
	for _, path := range []string{"/v1/responses/compact", "/v1/responses/input_tokens"} {
		if a := c.post(path, c.body()); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if n, m := w.changedIn(t, path, -1), w.changedIn(t, responsesPath, -1); n != m || n != 3 {
			t.Errorf("%s: %d outputs pruned, %d when they were sent, want 3", path, n, m)
		}
	}
	c.items = append(c.items, `{"type":"compaction_trigger"}`)
	if a := c.post(responsesPath, c.body()); a.status != http.StatusOK || !strings.Contains(a.body, `"compaction"`) {
		t.Errorf("compaction: %d %s", a.status, a.body)
	}
	if n := w.changedIn(t, responsesPath, -1); n != 3 {
		t.Errorf("%d outputs pruned with the trigger, want 3", n)
	}
}

// If the provider keeps the history, only new items are seen and pruned.
func TestProviderKeepsTheHistory(t *testing.T) {
	w := startWire(t, "openai", executing(1), -1, -1)
	c := newCodex(t, w.url, "gpt-5.5")
	a := c.post(responsesPath, strings.Replace(c.body(), `"store":false`, `"store":true`, 1))
	var first answered
	if err := json.Unmarshal([]byte(a.body), &first); err != nil {
		t.Fatal(err)
	}
	c.take(a.body)
	body := fmt.Sprintf(`{"model":"gpt-5.5","previous_response_id":%q,"input":[{"type":"custom_tool_call_output","call_id":%q,"output":%s}]}`, first.ID, c.calls[0], quoted(bigLog(1)))
	if a := c.post(responsesPath, body); a.status != http.StatusOK || a.header.Get("X-Secateur-Masked") > "0" {
		t.Errorf("answered %d, masked %q: %s", a.status, a.header.Get("X-Secateur-Masked"), a.body)
	}
	if n := w.changedIn(t, responsesPath, -1); n != 1 {
		t.Errorf("%d outputs were pruned, want 1", n)
	}
	if a := c.post(responsesPath, strings.Replace(body, first.ID, "resp_gone", 1)); a.status != http.StatusBadRequest || !strings.Contains(a.body, "previous_response_not_found") {
		t.Errorf("a response that is gone: %d %s", a.status, a.body)
	}
}

// Half a stream does not look whole: it ends with an error in the shape that clients of Responses
// know.
func TestResponsesProviderDies(t *testing.T) {
	w := startWire(t, "openai", executing(1), -1, -1)
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{Events: 3} })
	c := newCodex(t, w.url, "gpt-5.6-sol")
	c.extra = `"stream":true,`
	a := c.post(responsesPath, c.body())
	i := strings.LastIndex(a.body, "data: ")
	var e struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if i < 0 || json.Unmarshal([]byte(strings.TrimSpace(a.body[i+len("data: "):])), &e) != nil || e.Type != "error" || e.Message == "" || strings.Contains(a.body, "response.completed") {
		t.Errorf("the stream ends in %q", a.body[max(i, 0):])
	}
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{Events: 3, Tell: true} })
	if a := c.post(responsesPath, c.body()); strings.Count(a.body, "event: error") != 0 || !strings.Contains(a.body, "event: response.failed") {
		t.Errorf("a failure that the provider tells: %s", a.body)
	}
}

// A model of a provider with another format is an error that says so: nothing is translated.
func TestFormatsAreNotTranslated(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newCodex(t, w.url, "gpt-5.6-sol")
	a := c.post(responsesPath, c.body())
	var e providerError
	if a.status < 400 || a.status >= 500 || json.Unmarshal([]byte(a.body), &e) != nil || e.Error.Message == "" {
		t.Errorf("answered %d: %s", a.status, a.body)
	}
	if n := len(w.provider.Requests("")); n != 0 {
		t.Errorf("%d requests reached the provider", n)
	}
}

// The reported bill equals the provider's own books, for each kind of cache.
func TestToldRatioOfResponses(t *testing.T) {
	for _, model := range []string{"gpt-5.6-sol", "gpt-5.5", "gpt-5"} {
		t.Run(model, func(t *testing.T) {
			w := startWire(t, "openai", executing(1), -1, -1)
			c := newCodex(t, w.url, model)
			for n := range 10 {
				a := c.ask()
				told, err := strconv.ParseFloat(a.header.Get("X-Secateur-Bill-Ratio"), 64)
				truth := w.provider.Bill(t.Name()).Ratio()
				if err != nil || truth > 1.0001 || math.Abs(told-truth) > 0.05 {
					t.Errorf("request %d: told %q, the provider's books say %.4f", n, a.header.Get("X-Secateur-Bill-Ratio"), truth)
				}
				c.outputs("custom_tool_call", quoted(bigLog(n)))
			}
		})
	}
}
