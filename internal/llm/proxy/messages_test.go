package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/secret"
	"secateur/internal/store/records"
)

const messagesAnswer = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],` +
	`"usage":{"input_tokens":%d,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":1}}`

// bigText is a tool result worth pruning.
func bigText(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%04d: value_%d = compute_part_%d(settings, index=%d)  # row of the table\n", i, i, i%7, i*31)
	}
	return b.String()
}

// quoted returns a text as JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// claudeTalk is a conversation of that many tool turns, as Claude Code sends it. With thinking,
// every answer has a signed thought.
func claudeTalk(turns int, thinking bool, text func(turn int) string) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-5-5","max_tokens":100,"system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"find compute_part_3"}]}`)
	for i := range turns {
		thought := ""
		if thinking {
			thought = fmt.Sprintf(`{"type":"thinking","thinking":"","signature":"sig%d=="},`, i)
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":[%s{"type":"text","text":"I look at part %d"},`+
			`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"cat part%d.py"}}]}`, thought, i, i, i)
		mark := ""
		if i == turns-1 {
			mark = `,"cache_control":{"type":"ephemeral"}`
		}
		fmt.Fprintf(&b, `,{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":%s%s}]}`, i, quoted(text(i)), mark)
	}
	b.WriteString(`]}`)
	return b.String()
}

// anthropicProvider counts four bytes as a token and caches nothing.
func anthropicProvider(t *testing.T) *fakeProvider {
	t.Helper()
	return newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, answerTo(string(body)))
	})
}

func answerTo(body string) string { return fmt.Sprintf(messagesAnswer, len(body)/4) }

func pruningOn(o *proxy.Options) {
	o.Masking = masking("priced")
	o.Pruning = chat.DefaultPruning()
	o.Pruning.Enabled = true
}

func anthropicOnly(p *fakeProvider) map[string]*fakeProvider {
	return map[string]*fakeProvider{"anthropic": p}
}

func TestMessagesPassAsTheyCame(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	for _, body := range []string{
		claudeTalk(3, true, func(int) string { return "short" }),
		`{"model":"claude-opus-5", "messages": [ {"role":"user","content":"é \ud83d"} ] , "future": [1.0, 2e5]}`,
		`{"messages":"none"}`,
		"no JSON",
	} {
		for _, path := range []string{"/v1/messages?beta=true", "/v1/messages/count_tokens?beta=true", "/v1/messages/?x=1&y"} {
			got := px.do(t, http.MethodPost, path, body, "anthropic-beta", "b,a,b", "Anthropic-Version", "2023-06-01")
			sent := p.last(t)
			want := strings.Replace(path, "/?", "?", 1)
			if got.status != 200 || got.body != answerTo(body) || string(sent.body) != body || sent.uri != want || sent.header.Get("Anthropic-Beta") != "b,a,b" {
				t.Errorf("%s of %.40s: %d %s, sent to %s with %v: %s", path, body, got.status, got.body, sent.uri, sent.header, sent.body)
			}
		}
	}
}

// Claude Code asks for a summary with a text after its newest results, which may not have been sent
// before. They are pruned as with any first pass, and earlier results are sent as before.
func TestAClaudeCodeCompactionHasItsNewestResultsPruned(t *testing.T) {
	const ask = `,{"type":"text","text":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the conversation so far."}]}]}`
	text := func(i int) string { return bigText(300 + i) }
	for _, thinking := range []bool{true, false} {
		p := anthropicProvider(t)
		px := newProxy(t, pruningOn, anthropicOnly(p))
		px.do(t, http.MethodPost, "/v1/messages", claudeTalk(3, thinking, text))
		// The newest result is marked.
		before, _, _ := strings.Cut(string(p.last(t).body), `,"cache_control":{"type":"ephemeral"}}]}]}`)
		body := strings.TrimSuffix(claudeTalk(4, thinking, text), "]}]}") + ask
		px.do(t, http.MethodPost, "/v1/messages", body)
		sent := string(p.last(t).body)
		if !strings.HasPrefix(sent, before) || !strings.HasSuffix(sent, ask) {
			t.Errorf("thinking %v: what was sent before, or the question, has changed", thinking)
		}
		if newest := len(sent) - len(before); newest > len(text(3))/2 {
			t.Errorf("thinking %v: the newest result of %d bytes went out in %d", thinking, len(text(3)), newest)
		}
	}
}

func TestCredentialsOfMessages(t *testing.T) {
	for _, tt := range []struct {
		rule, key string
		client    []string
		want      map[string]string
	}{
		{"an API key passes", "", []string{"x-api-key", "sk-1"}, map[string]string{"X-Api-Key": "sk-1", "Authorization": ""}},
		{
			"a bearer passes with its beta", "",
			[]string{"Authorization", "Bearer sk-ant-oat01", "anthropic-beta", "oauth-2025-04-20"},
			map[string]string{"X-Api-Key": "", "Authorization": "Bearer sk-ant-oat01", "Anthropic-Beta": "oauth-2025-04-20"},
		},
		{"our key replaces both", "sk-ours", []string{"Authorization", "Bearer x", "x-api-key", "y"}, map[string]string{"X-Api-Key": "sk-ours", "Authorization": ""}},
		{"our own token stays here", "", []string{"X-Secateur-Token", "own", "x-api-key", "sk-1"}, map[string]string{"X-Api-Key": "sk-1", "X-Secateur-Token": ""}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := anthropicProvider(t)
			px := newProxy(t, func(o *proxy.Options) {
				o.OwnToken = secret.New("own")
				o.Providers["anthropic"] = proxy.Provider{BaseURL: p.URL + "/v1", APIKey: secret.New(tt.key)}
			}, nil)
			px.do(t, http.MethodPost, "/v1/messages", `{"model":"claude-opus-5","messages":[]}`, tt.client...)
			for name, want := range tt.want {
				if got := p.last(t).header.Get(name); got != want {
					t.Errorf("the provider got %s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestFormatsAreNotTranslated(t *testing.T) {
	a, b := anthropicProvider(t), newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, func(o *proxy.Options) {
		o.Providers["openai"] = proxy.Provider{BaseURL: b.URL + "/v1"}
		o.Providers["kimi"] = proxy.Provider{BaseURL: b.URL + "/v1"}
	}, anthropicOnly(a))
	for _, tt := range []struct {
		path, model string
		status      int
		to          *fakeProvider
		says        string
	}{
		{"/v1/messages", "claude-opus-5", 200, a, ""}, // no other provider has this format
		{"/v1/messages", "anthropic/claude-opus-5", 200, a, ""},
		{"/v1/messages", "kimi/k2", 400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"The model \"kimi/k2\" is one of the provider \"kimi\", which speaks the format \"chat\"`},
		{"/v1/messages/count_tokens", "openai/gpt", 400, nil, "/v1/responses"},
		{"/v1/responses", "gpt-6", 200, b, ""},
		{"/v1/responses", "anthropic/x", 400, nil, `{"error":{"message":"The model \"anthropic/x\"`},
		{"/v1/chat/completions", "openai/gpt-6", 200, b, ""},
		{"/v1/chat/completions", "anthropic/x", 400, nil, `{"error":{"message":`},
		// ambiguous: two providers.
		{"/v1/chat/completions", "unknown", 404, nil, "model_not_found"},
	} {
		before := [2]int{a.count(), b.count()}
		got := px.do(t, http.MethodPost, tt.path, `{"model":"`+tt.model+`","messages":[],"input":[]}`)
		asked := map[*fakeProvider]int{a: a.count() - before[0], b: b.count() - before[1]}
		if got.status != tt.status || !strings.Contains(got.body, tt.says) || tt.to != nil && asked[tt.to] != 1 || tt.to == nil && asked[a]+asked[b] > 0 {
			t.Errorf("%s %s: %d %s, want %d from %p: %v", tt.path, tt.model, got.status, got.body, tt.status, tt.to, asked)
		}
	}
}

func TestANewResultOfMessagesIsPrunedOnceAndStaysSo(t *testing.T) {
	p := anthropicProvider(t)
	kept := &records.Memory{}
	start := func() *proxied {
		return newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = kept }, anthropicOnly(p))
	}
	text := func(turn int) string { return fmt.Sprintf("part %d\n", turn) + bigText(200) }
	px := start()
	var before string
	for turns := 1; turns <= 5; turns++ {
		if turns == 4 {
			px = start() // another process with the same store
		}
		body := claudeTalk(turns, true, text)
		px.do(t, http.MethodPost, "/v1/messages?beta=true", body)
		px.running.Wait()
		sent := string(p.last(t).body)
		if len(sent) > len(body)/2 {
			t.Fatalf("turn %d: %d of %d bytes went out", turns, len(sent), len(body))
		}
		if strings.Count(sent, "signature") != turns || strings.Count(sent, `"cache_control":{"type":"ephemeral"}`) != 2 {
			t.Errorf("turn %d lost something: %s", turns, sent)
		}
		prefix := strings.TrimSuffix(before, `,"cache_control":{"type":"ephemeral"}}]}]}`)
		if !strings.HasPrefix(sent, prefix) {
			t.Errorf("turn %d: what was sent before went out in another form", turns)
		}
		before = sent
		count := px.do(t, http.MethodPost, "/v1/messages/count_tokens", body)
		if counted := string(p.last(t).body); counted != sent {
			t.Errorf("turn %d: %d bytes were counted of %d that were sent", turns, len(counted), len(sent))
		}
		if ids := count.header.Get("X-Secateur-Bill-Ratio"); ids == "" {
			t.Error("nothing is told of a count")
		}
	}
}

func TestCountingCutsNothingNew(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	body := claudeTalk(1, true, func(int) string { return bigText(200) })
	px.do(t, http.MethodPost, "/v1/messages/count_tokens", body)
	if string(p.last(t).body) != body {
		t.Error("a count was pruned that nothing was sent of")
	}
	px.do(t, http.MethodPost, "/v1/messages", body)
	if len(p.last(t).body) > len(body)/2 {
		t.Error("the count was remembered as if it had been sent")
	}
}

func TestAConversationMetInTheMiddleIsLeftAsItIs(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	text := func(turn int) string { return fmt.Sprintf("part %d\n", turn) + bigText(200) }
	body := claudeTalk(12, true, text)
	got := px.do(t, http.MethodPost, "/v1/messages", body)
	sent := string(p.last(t).body)
	last := strings.LastIndex(body, `{"role":"assistant"`)
	if !strings.HasPrefix(sent, body[:last]) {
		t.Error("results that were sent before were changed")
	}
	if len(sent) == len(body) {
		t.Error("the newest result was not pruned")
	}
	if why := got.header.Get("X-Secateur-Unmasked"); why != "preserved-thinking" {
		t.Errorf("X-Secateur-Unmasked: %q", why)
	}
}

func TestMaskingStaysOutOfWhatIsBound(t *testing.T) {
	for _, tt := range []struct {
		rule     string
		body     string
		strategy string
		why      string
		masked   bool
	}{
		{"thinking of a model that checks", claudeTalk(20, true, bigOf), "sliding", "preserved-thinking", false},
		{"no thinking", claudeTalk(20, false, bigOf), "sliding", "", true},
		{"a model that does not check", strings.Replace(claudeTalk(20, true, bigOf), "claude-opus-5-5", "claude-opus-4-8", 1), "sliding", "", true},
		{"stepped", claudeTalk(20, true, bigOf), "stepped", "preserved-thinking", false},
		{"the server clears results", strings.Replace(claudeTalk(20, false, bigOf), `{"model"`, `{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"model"`, 1), "sliding", "context-management", false},
		{"the server keeps all thinking", strings.Replace(claudeTalk(20, false, bigOf), `{"model"`, `{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"model"`, 1), "sliding", "", true},
		{"a thread", strings.Replace(claudeTalk(20, false, bigOf), `{"model"`, `{"thread":{"type":"create"},"model"`, 1), "sliding", "server-history", false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := anthropicProvider(t)
			px := newProxy(t, func(o *proxy.Options) { o.Masking = masking(tt.strategy) }, anthropicOnly(p))
			got := px.do(t, http.MethodPost, "/v1/messages", tt.body)
			if masked := got.header.Get("X-Secateur-Masked") != "0"; masked != tt.masked || masked == (string(p.last(t).body) == tt.body) {
				t.Errorf("%s results are masked", got.header.Get("X-Secateur-Masked"))
			}
			if why := got.header.Get("X-Secateur-Unmasked"); why != tt.why {
				t.Errorf("X-Secateur-Unmasked: %q, want %q", why, tt.why)
			}
		})
	}
}

func bigOf(turn int) string { return fmt.Sprintf("part %d\n", turn) + bigText(60) }

func TestStreamsOfEveryFormatEndAsTheirClientsKnow(t *testing.T) {
	for _, tt := range []struct {
		rule, path, stream, end string
		whole                   bool
	}{
		{"whole", "/v1/messages", "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: ping\ndata: {}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "", true},
		{"with an error of the provider's", "/v1/messages", "event: error\ndata: {\"type\":\"error\"}\n\n", "", true},
		{"an error that is no event", "/v1/messages", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", "", true},
		{"an error in lines that is no event", "/v1/messages", "\n{\n\n\"type\":\"error\"\n\n}\n", "", true},
		{"without the last blank line", "/v1/messages", "event: ping\ndata: {}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n", "", true},
		{"without the last line end", "/v1/messages", "event: ping\ndata: {}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}", "", true},
		{"without names", "/v1/messages", "data: {\"type\":\"message_stop\"}\n\n", "", true},
		{
			"cut off", "/v1/messages", "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: content_block_delta\ndata: {\"te",
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"The answer of the provider \\\"anthropic\\\" broke off.\"}}\n\n", false,
		},
		{"whole", "/v1/responses", "event: response.created\ndata: {}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\"}\n\n", "", true},
		{"incomplete", "/v1/responses", "event: response.incomplete\r\ndata: {}\r\n\r\n", "", true},
		{"an error that is no event", "/v1/responses", "{\"error\":{\"message\":\"The server had an error\"}}", "", true},
		{"without the last blank line", "/v1/responses", "event: response.completed\ndata: {\"type\":\"response.completed\"}", "", true},
		{"an error that is no event", "/v1/chat/completions", "{\"error\":{\"message\":\"The server had an error\"}}", "", true},
		{"without the last blank line", "/v1/chat/completions", "data: {\"choices\":[]}\n\ndata: [DONE]", "", true},
		{
			"cut off", "/v1/responses", "event: response.created\ndata: {}\n\n",
			"event: error\ndata: {\"type\":\"error\",\"code\":\"upstream_stream_broken\",\"message\":\"The answer of the provider \\\"openai\\\" broke off.\",\"param\":null}\n\n", false,
		},
	} {
		t.Run(tt.path+" "+tt.rule, func(t *testing.T) {
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, tt.stream)
				w.(http.Flusher).Flush()
			})
			px := newProxy(t, pruningOn, map[string]*fakeProvider{"anthropic": p, "openai": p})
			got := px.do(t, http.MethodPost, tt.path, `{"model":"m","stream":true,"messages":[],"input":[]}`)
			passed := tt.stream
			if !tt.whole {
				passed = tt.stream[:strings.LastIndex(tt.stream, "\n\n")+2]
			}
			if got.body != passed+tt.end || got.err != nil {
				t.Errorf("the client got %q, %v, want %q", got.body, got.err, passed+tt.end)
			}
		})
	}
}

func TestOwnErrorsHaveTheShapeOfTheFormat(t *testing.T) {
	px := newProxy(t, func(o *proxy.Options) { o.MaxBodyBytes = 100 }, nil)
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/messages", strings.Repeat("x", 200), 413, `{"type":"error","error":{"type":"request_too_large",`},
		{"/v1/messages", `{"model":"m"}`, 404, `{"type":"error","error":{"type":"not_found_error",`},
		{"/v1/messages/batches", `{}`, 404, `{"type":"error","error":{"type":"not_found_error",`},
		{"/v1/responses", `{"model":"m"}`, 404, `{"error":{"message":`},
	} {
		got := px.do(t, http.MethodPost, tt.path, tt.body)
		if got.status != tt.status || !strings.HasPrefix(got.body, tt.want) {
			t.Errorf("%s: %d %s, want %d %s…", tt.path, got.status, got.body, tt.status, tt.want)
		}
	}
}
