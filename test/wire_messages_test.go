package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"secateur/test/llm"
)

const (
	messagesPath = "/v1/messages"
	binding      = "claude-opus-5-5" // binds thinking to what was sent before
	unbound      = "claude-sonnet-4-5"
)

// A request without cuts reaches the provider byte for byte: spaces, order, escapes, numbers,
// markers, every kind of block, any thinking.
func TestMessagesPassByteForByte(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, unbound)
	c.system = `[ {"text":"x-anthropic-billing-header: cc_version=2; cch=1;", "type":"text"},{"type":"text","text":"short","cache_control":{"ttl":"1h","type":"ephemeral"}} ]`
	c.tools = `[{"input_schema":{"type":"object"},"name":"zeta"},{"name":"alpha","input_schema":{"b":1.0,"a":12345678901234567890,"type":"object"}, "cache_control" : {"type":"ephemeral","ttl":"1h"}},{"name":"read_file","input_schema":{}}]`
	c.extra = `"temperature":1.0, "metadata":{"user_id":"\u00e9\ud83d\ude00"},` + "\n\t"
	c.ask()
	c.results(`"is_error":false, "content":[{"type":"text","text":"ok \ud800 \u2028"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"cache_control":{"type":"ephemeral","ttl":"1h"}`)
	c.messages[1] = strings.Replace(c.messages[1], `"type":"text"}`, `"type":"text"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"`+strings.Repeat("x", 9000)+`"}]}`, 1)
	body := c.body()
	if a := c.post("/v1/messages?beta=true&x=%20", body); a.status != http.StatusOK {
		t.Fatalf("answered %d: %s", a.status, a.body)
	}
	for i, sent := range w.tap.Requests(messagesPath) {
		if got := w.provider.Requests(messagesPath)[i]; string(got.Body) != string(sent.Body) || got.Query != sent.Query {
			t.Errorf("request %d: %q\nbecame %q", i, sent.Body, got.Body)
		}
	}
	w.checkAll(t, messagesPath)
}

// Headers arrive as sent, and a credential in its own header.
func TestMessagesHeadersAndCredentials(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	for name, h := range map[string]http.Header{
		"a key":    {"X-Api-Key": {"sk-ant-api03-x"}},
		"a bearer": {"Authorization": {"Bearer some-token"}},
		"a login":  {"Authorization": {"Bearer sk-ant-oat01-x"}, "Anthropic-Beta": {"zeta-1,oauth-2025-04-20,alpha-2,alpha-2"}},
	} {
		c := newClaude(t, w.url, binding)
		c.header.Del("X-Api-Key")
		c.header["Anthropic-Beta"] = []string{"b-2026,a-2025,b-2026"}
		c.header["X-Claude-Code-Session-Id"] = []string{"s"}
		maps.Copy(c.header, h)
		a := c.post("/v1/messages?beta=true", c.body())
		if a.status != http.StatusOK || a.header.Get("Request-Id") == "" {
			t.Errorf("%s: %d, request id %q: %s", name, a.status, a.header.Get("Request-Id"), a.body)
		}
	}
	w.checkAll(t, messagesPath)
}

// A provider's errors pass unchanged: clients read their wording.
func TestMessagesErrorsPassUnchanged(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, binding)
	c.messages = append(c.messages, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"no"}]}`, `{"role":"user","content":"go on"}`)
	a := c.post("/v1/messages", c.body())
	seen := w.provider.Requests(messagesPath)
	if a.status != http.StatusBadRequest || a.body != string(seen[0].Answer) || !strings.Contains(a.body, "Invalid `signature` in `thinking` block") {
		t.Errorf("answered %d %s, the provider %s", a.status, a.body, seen[0].Answer)
	}
}

// Big results are pruned once and stay as sent: after a restart, a kill, with other settings, at
// another process with the same store, in a fork, after going back. Thinking never becomes invalid.
func TestPrunedResultsStayForEver(t *testing.T) {
	w := startWire(t, "anthropic", calling(2), -1, -1)
	c := newClaude(t, w.url, binding)
	turn := func(c *claude, n int) {
		c.ask()
		c.results(text(bigLog(2*n)), text(bigLog(2*n+1)))
	}
	for n := range 3 {
		turn(c, n)
	}
	before := c.fork()
	if n := w.changedIn(t, messagesPath, -1); n != 4 {
		t.Errorf("%d results went out pruned, want 4", n)
	}
	w.restart(t, syscall.SIGTERM)
	turn(c, 3)
	w.restart(t, syscall.SIGKILL)
	turn(c, 4)
	old := w.config
	w.config = strings.Replace(old, "[context_pruning]\nenabled = true", "[context_pruning]\nenabled = true\ntarget_chars = 9000\nmin_chars = 9000", 1)
	w.restart(t, syscall.SIGTERM)
	turn(c, 5)
	w.config = strings.Replace(old, "[context_pruning]\nenabled = true", "[context_pruning]\nenabled = false", 1)
	w.restart(t, syscall.SIGTERM)
	turn(c, 6)
	w.config = old
	w.restart(t, syscall.SIGTERM)
	turn(before, 90) // back to where it was, and on differently
	turn(before, 91)
	other := c.fork()
	turn(other, 92)
	// Another process with the same store, alternating with the first.
	second := startDaemon(t, w.config)
	for n := range 2 {
		first := w.daemon.Swap(second)
		turn(c, 20+2*n)
		w.daemon.Store(first)
		turn(c, 21+2*n)
	}
	turn(c, 7)
	turn(c, 8)
	if n := w.changedIn(t, messagesPath, -1); n < 10 {
		t.Errorf("%d results stand pruned at the end", n)
	}
	w.checkAll(t, messagesPath)
	if b := w.provider.Bill(t.Name()); b.Ratio() >= 1 {
		t.Errorf("%.4f of the bill was paid", b.Ratio())
	}
}

// A conversation first seen in the middle was sent whole: its old results stay whole.
func TestConversationMetInTheMiddleIsLeftAlone(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	direct := newClaude(t, w.upstream, binding)
	for n := range 3 {
		direct.ask()
		direct.results(text(bigLog(n)))
	}
	c := direct.fork()
	c.url = w.url
	c.ask() // the newest result was never sent, so only it may be pruned
	sent, got := w.tap.Requests(messagesPath), w.provider.Requests(messagesPath)
	changes, err := llm.Compare(sent[0].Body, got[len(got)-1].Body)
	if err != nil || len(changes) != 1 || !strings.HasPrefix(changes[0].Path, "messages.6.") {
		t.Errorf("changed %v, %v", changes, err)
	}
}

// One message with results that are cut and results that are not: ids, images, references, errors,
// empty and absent contents, memory.
func TestResultsThatAreNotCut(t *testing.T) {
	big, _ := json.Marshal(bigLog(1))
	other, _ := json.Marshal(bigLog(2))
	third, _ := json.Marshal(bigLog(3))
	for name, c := range map[string]struct {
		members string
		path    string // of the cut text; "": none
	}{
		"a string":               {`"content":` + string(big), "content"},
		"a text and a picture":   {`"content":[{"type":"text","text":` + string(other) + `},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("A", 9000) + `"}}]`, "content.0.text"},
		"a picture alone":        {`"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("A", 9000) + `"}}]`, ""},
		"a reference to a tool":  {`"content":[{"type":"text","text":` + string(third) + `},{"type":"tool_reference","tool_name":"memory"}]`, ""},
		"an error":               {`"is_error":true,"content":` + string(big), ""},
		"nothing":                {`"content":""`, ""},
		"no content":             {`"is_error":false`, ""},
		"a result that is short": {`"content":"ok"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := startWire(t, "anthropic", calling(2), -1, -1)
			k := newClaude(t, w.url, binding)
			k.ask()
			k.results(c.members, `"content":"short"`)
			k.ask()
			sent, got := w.tap.Requests(messagesPath), w.provider.Requests(messagesPath)
			changes, err := llm.Compare(sent[1].Body, got[1].Body)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.path == "" && len(changes) != 0:
				t.Errorf("changed %s", changes[0].Path)
			case c.path != "" && (len(changes) != 1 || changes[0].Path != "messages.2.content.0."+c.path):
				t.Errorf("changed %v, want %s", changes, c.path)
			}
			w.checkAll(t, messagesPath)
		})
	}
}

// Token counting sees what was sent, and cuts nothing itself.
func TestCountTokensSeesWhatWasSent(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, binding)
	c.ask()
	c.results(text(bigLog(1)))
	count := func() string {
		body := strings.Replace(c.body(), `"max_tokens":1000,`, "", 1)
		a := c.post("/v1/messages/count_tokens", body)
		if a.status != http.StatusOK {
			t.Errorf("count_tokens: %d %s", a.status, a.body)
		}
		return a.body
	}
	const path = "/v1/messages/count_tokens"
	count()
	if n := w.changedIn(t, path, -1); n != 0 {
		t.Errorf("%d results were cut before they were sent", n)
	}
	body := c.fork()
	c.ask()
	c = body
	count()
	if n, m := w.changedIn(t, path, -1), w.changedIn(t, messagesPath, -1); n != m || n != 1 {
		t.Errorf("%d results pruned when counted, %d when sent, want 1", n, m)
	}
	w.checkAll(t, messagesPath)
}

// A stream arrives as it comes: pings while the provider is silent, every byte unchanged.
func TestMessagesStreams(t *testing.T) {
	hold := make(chan struct{})
	w := startWire(t, "anthropic", calling(1), -1, -1)
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{Hold: hold} })
	c := newClaude(t, w.url, binding)
	c.extra = `"stream":true,`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", strings.NewReader(c.body()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "event: ping" {
	}
	close(hold) // the ping came while the provider was silent
	last := ""
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: ") {
			last = lines.Text()
		}
	}
	if last != "event: message_stop" {
		t.Errorf("the stream ended with %q, %v", last, lines.Err())
	}
	w.checkAll(t, messagesPath)
}

// Unusual streams: line ends of other systems, characters split by the network, a line of a
// megabyte, events without data, comments, no name.
func TestOddStreamsPassByteForByte(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	chunks := [][]byte{
		[]byte("event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\r\n\r\n"),
		[]byte(": a comment\n\n"), []byte("data: {\"type\":\"content_block_delta\",\"text\":\"\xf0\x9f"), []byte("\x8c\xbf\"}\n\n"),
		[]byte("event: content_block_delta\ndata: {\"type\":\"x\",\"text\":\"" + long + "\"}\n\n"),
		[]byte("event: nothing\n\n"), []byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
	}
	w := startWire(t, "anthropic", calling(1), -1, -1)
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{Stream: chunks} })
	c := newClaude(t, w.url, binding)
	c.extra = `"stream":true,`
	if a := c.post("/v1/messages", c.body()); a.body != string(slices.Concat(chunks...)) {
		t.Errorf("%d bytes came, want %d", len(a.body), len(slices.Concat(chunks...)))
	}
}

// If a provider dies, half an answer never looks whole, and the client's error has a known shape.
func TestProviderDies(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		fault  llm.Fault
		want   func(a answer) bool
	}{
		"overloaded":            {"", llm.Fault{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, func(a answer) bool { return a.status == 529 && strings.Contains(a.body, `"Overloaded"`) }},
		"in half a JSON answer": {"", llm.Fault{Events: 1}, func(a answer) bool { return a.status != http.StatusOK }},
		"after two events":      {`"stream":true,`, llm.Fault{Events: 2}, func(a answer) bool { return endsInError(a.body) && !strings.Contains(a.body, "message_stop") }},
		"with an error of its own": {`"stream":true,`, llm.Fault{Events: 3, Tell: true}, func(a answer) bool {
			return endsInError(a.body) && strings.Count(a.body, "event: error") == 1 && strings.Contains(a.body, `"overloaded_error"`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := startWire(t, "anthropic", calling(1), -1, -1)
			w.setFault(func(int, *http.Request) llm.Fault { return c.fault })
			k := newClaude(t, w.url, binding)
			k.extra = c.stream
			if a := k.post("/v1/messages", k.body()); !c.want(a) {
				t.Errorf("the client got %d: %.600s", a.status, a.body)
			}
		})
	}
}

// endsInError reports whether a stream's last event is an error in the shape of Messages.
func endsInError(stream string) bool {
	i := strings.LastIndex(stream, "event: error\ndata: ")
	if i < 0 {
		return false
	}
	var e providerError
	data := strings.TrimSpace(stream[i+len("event: error\ndata: "):])
	return json.Unmarshal([]byte(data), &e) == nil && e.Type == "error" && e.Error.Type != "" && e.Error.Message != ""
}

// providerError is an error in the shape of Messages; the others have only the inner object.
type providerError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// answered is an answer of either format.
type answered struct {
	ID string `json:"id"`
}

// A failed request that comes again is sent in the same form.
func TestRetriesAreSentInTheSameForm(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	fail := 0
	w.setFault(func(n int, _ *http.Request) llm.Fault {
		if fail == n {
			return llm.Fault{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
		}
		return llm.Fault{}
	})
	fail = 1
	c := newClaude(t, w.url, binding)
	c.ask()
	c.results(text(bigLog(1)))
	if a := c.post("/v1/messages?beta=true", c.body()); a.status != 529 {
		t.Fatalf("answered %d", a.status)
	}
	w.restart(t, syscall.SIGKILL)
	c.ask()
	got := w.provider.Requests(messagesPath)
	if string(got[1].Body) != string(got[2].Body) {
		t.Error("the second try differs from the first")
	}
	if w.changedIn(t, messagesPath, 1) != 1 {
		t.Error("the result was not pruned")
	}
}

// In a conversation that the server keeps, only new messages are sent, and they are pruned. If the
// thread is lost and everything is sent again, it has the same form.
func TestThreads(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, unbound)
	c.header["Anthropic-Beta"] = []string{"message-threads-2026-08-12"}
	c.extra = `"thread":{"type":"create"},`
	var first answered
	if err := json.Unmarshal([]byte(c.ask().body), &first); err != nil {
		t.Fatal(err)
	}
	c.results(text(bigLog(1)))
	newest := c.messages[len(c.messages)-1]
	body := fmt.Sprintf(`{"model":%q,"max_tokens":10,"thread":{"type":"continue","previous_message_id":%q},"messages":[%s]}`, c.model, first.ID, newest)
	if a := c.post("/v1/messages", body); a.status != http.StatusOK {
		t.Fatalf("answered %d: %s", a.status, a.body)
	}
	lost := strings.Replace(body, first.ID, "msg_gone", 1)
	if a := c.post("/v1/messages", lost); a.status != http.StatusNotFound {
		t.Errorf("a thread that is gone: %d %s", a.status, a.body)
	}
	c.ask()
	c.results(`"content":"short"`)
	c.ask()
	sent, got := w.tap.Requests(messagesPath), w.provider.Requests(messagesPath)
	form := func(i int) string {
		changes, err := llm.Compare(sent[i].Body, got[i].Body)
		if err != nil || len(changes) != 1 {
			t.Fatalf("request %d: changed %v, %v", i, changes, err)
		}
		return changes[0].Is
	}
	for i := 2; i < len(sent); i++ {
		if form(1) != form(i) {
			t.Errorf("request %d: the result was sent in another form", i)
		}
	}
}

// Results are masked if the model does not bind and it pays off, and never if it binds.
func TestMaskingNeedsAModelThatDoesNotBind(t *testing.T) {
	for model, masked := range map[string]bool{binding: false, unbound: true} {
		t.Run(model, func(t *testing.T) {
			w := startWire(t, "anthropic", calling(1), -1, -1)
			w.config += "[observation_masking.schema1]\nenabled = true\nstrategy = \"sliding\"\nwindow_turns = 2\n"
			w.config = strings.Replace(w.config, "[context_pruning]\nenabled = true", "[context_pruning]\nenabled = false", 1)
			w.restart(t, syscall.SIGTERM)
			c := newClaude(t, w.url, model)
			var last answer
			for n := range 6 {
				last = c.ask()
				c.results(text(bigLog(n)))
			}
			if n := w.changedIn(t, messagesPath, -1); n > 0 != masked {
				t.Errorf("%d results were masked, want some %t", n, masked)
			}
			if n, _ := strconv.Atoi(last.header.Get("X-Secateur-Masked")); n > 0 != masked {
				t.Errorf("X-Secateur-Masked %q", last.header.Get("X-Secateur-Masked"))
			}
			for i, s := range w.provider.Requests(messagesPath) {
				if s.Status != http.StatusOK {
					t.Errorf("request %d: %d %s", i, s.Status, s.Answer)
				}
			}
		})
	}
}

// The reported bill equals the provider's own books, over a conversation with pruned results.
func TestToldRatioIsTheProviders(t *testing.T) {
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, binding)
	for n := range 12 {
		a := c.ask()
		told, err := strconv.ParseFloat(a.header.Get("X-Secateur-Bill-Ratio"), 64)
		if err != nil {
			t.Fatalf("X-Secateur-Bill-Ratio %q", a.header.Get("X-Secateur-Bill-Ratio"))
		}
		truth := w.provider.Bill(t.Name()).Ratio()
		if truth > 1.0001 || math.Abs(told-truth) > 0.05 {
			t.Errorf("request %d: told %.4f, the provider's books say %.4f", n, told, truth)
		}
		c.results(text(bigLog(n)))
	}
	if b := w.provider.Bill(t.Name()); b.Ratio() > 0.9 {
		t.Errorf("%.3f of the bill was paid, want less", b.Ratio())
	}
}

// If a provider finds its thinking bound to something else, the error passes unchanged, and nothing
// more is cut.
func TestBoundElsewhereIsLeftAlone(t *testing.T) {
	const refusal = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0: Invalid ` + "`signature` in `thinking`" + ` block. The block is bound to a different conversation."},"request_id":"req_9"}`
	w := startWire(t, "anthropic", calling(1), -1, -1)
	c := newClaude(t, w.url, binding)
	for n := range 2 {
		c.ask()
		c.results(text(bigLog(n)))
	}
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{Status: 400, Body: refusal} })
	if a := c.post("/v1/messages", c.body()); a.status != 400 || a.body != refusal {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	w.setFault(func(int, *http.Request) llm.Fault { return llm.Fault{} })
	w.restart(t, syscall.SIGKILL)
	c.ask()
	c.results(text(bigLog(7)))
	before := w.changedIn(t, messagesPath, -1)
	c.ask()
	if n := w.changedIn(t, messagesPath, -1); n > before {
		t.Errorf("%d results are cut, %d were before the refusal", n, before)
	}
}
