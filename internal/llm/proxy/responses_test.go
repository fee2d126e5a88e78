package proxy_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"secateur/internal/llm/proxy"
)

// codexTalk is a conversation of that many tool turns, as Codex sends it.
func codexTalk(turns int, text func(turn int) string) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5.6-sol","instructions":"You code.","store":false,"stream":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"s1",` +
		`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"find compute_part_3"}]}`)
	for i := range turns {
		fmt.Fprintf(&b, `,{"type":"reasoning","summary":[],"encrypted_content":"gAAAA%d=="}`+
			`,{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat part%d.py\"}","call_id":"call_%d"}`+
			`,{"type":"function_call_output","call_id":"call_%d","output":%s}`, i, i, i, i, quoted(text(i)))
	}
	b.WriteString(`]}`)
	return b.String()
}

// openAIProvider counts four bytes as a token and caches nothing.
func openAIProvider(t *testing.T) *fakeProvider {
	t.Helper()
	return newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Codex-Turn-State", "sticky")
		_, _ = fmt.Fprintf(w, `{"id":"resp_1","object":"response","output":[],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":1}}`, len(body)/4)
	})
}

func shell(turn int) string {
	return fmt.Sprintf("Chunk ID: %x\nWall time: %d.2500 seconds\nProcess exited with code 0\nOutput:\npart %d\n", turn*77, turn, turn) + bigText(200)
}

func TestNewResultsOfResponsesArePrunedOnceAndStaySo(t *testing.T) {
	p := openAIProvider(t)
	px := newProxy(t, pruningOn, map[string]*fakeProvider{"openai": p})
	before := ""
	for turns := 1; turns <= 4; turns++ {
		body := codexTalk(turns, shell)
		got := px.do(t, http.MethodPost, "/v1/responses", body, "X-Codex-Turn-State", "sticky", "session-id", "s1")
		px.running.Wait()
		sent := p.last(t)
		if len(sent.body) > len(body)/2 || !strings.HasPrefix(string(sent.body), strings.TrimSuffix(before, "]}")) {
			t.Fatalf("turn %d: %d of %d bytes went out, as before: %v", turns, len(sent.body), len(body), strings.HasPrefix(string(sent.body), strings.TrimSuffix(before, "]}")))
		}
		if got.header.Get("X-Codex-Turn-State") != "sticky" || sent.header.Get("X-Codex-Turn-State") != "sticky" || sent.header.Get("Session-Id") != "s1" {
			t.Errorf("headers: %v, %v", got.header, sent.header)
		}
		before = string(sent.body)
		for _, path := range []string{"/v1/responses/compact", "/v1/responses/input_tokens"} {
			px.do(t, http.MethodPost, path, body)
			if again := p.last(t); string(again.body) != before || again.uri != path {
				t.Errorf("%s: %d bytes went out, want the %d that were sent", again.uri, len(again.body), len(before))
			}
		}
		trigger := strings.TrimSuffix(body, "]}") + `,{"type":"function_call","name":"x","call_id":"c","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":` +
			quoted(bigText(500)) + `},{"type":"compaction_trigger"}]}`
		px.do(t, http.MethodPost, "/v1/responses", trigger)
		again := string(p.last(t).body) // as it was sent, with its newest result pruned
		if !strings.HasPrefix(again, strings.TrimSuffix(before, "]}")) || !strings.HasSuffix(again, `,{"type":"compaction_trigger"}]}`) || len(again)-len(before) > len(bigText(500))/2 {
			t.Errorf("a request to compact went out in %d bytes, %d more than was sent before", len(again), len(again)-len(before))
		}
	}
}

func TestPackedRequestsAreRead(t *testing.T) {
	zip := func(encoding, text string) string {
		var b bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&b)
		if encoding == "zstd" {
			w, _ = zstd.NewWriter(&b)
		}
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	p := openAIProvider(t)
	px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.MaxBodyBytes = 1 << 20 }, map[string]*fakeProvider{"openai": p})
	big, small := codexTalk(1, shell), codexTalk(1, func(int) string { return "short" })
	for _, encoding := range []string{"gzip", "zstd"} {
		packed := zip(encoding, small)
		px.do(t, http.MethodPost, "/v1/responses", packed, "Content-Encoding", encoding)
		if sent := p.last(t); string(sent.body) != packed || sent.header.Get("Content-Encoding") != encoding {
			t.Errorf("%s: a request without changes went out otherwise than it came", encoding)
		}
		px.do(t, http.MethodPost, "/v1/responses", zip(encoding, big), "Content-Encoding", encoding)
		if sent := p.last(t); !strings.HasPrefix(string(sent.body), `{"model"`) || len(sent.body) > len(big)/2 || sent.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: what was pruned went out as %.40q, %v", encoding, sent.body, sent.header)
		}
		before := p.count()
		bomb := px.do(t, http.MethodPost, "/v1/responses", zip(encoding, strings.Repeat(" ", 3<<20)), "Content-Encoding", encoding)
		if bomb.status != http.StatusRequestEntityTooLarge || p.count() != before {
			t.Errorf("%s: a bomb is answered with %d %s", encoding, bomb.status, bomb.body)
		}
		px.do(t, http.MethodPost, "/v1/responses", "no "+encoding, "Content-Encoding", encoding)
		if sent := p.last(t); string(sent.body) != "no "+encoding || sent.header.Get("Content-Encoding") != encoding {
			t.Errorf("%s: what cannot be read did not pass as it came", encoding)
		}
	}
}

func TestAnUpgradeOfResponsesIsRefusedAtOnce(t *testing.T) {
	p := openAIProvider(t)
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	px := newProxy(t, pruningOn, map[string]*fakeProvider{"openai": p})
	got := px.do(t, http.MethodGet, "/v1/responses", "", upgrade...)
	if got.status != http.StatusUpgradeRequired || !strings.Contains(got.body, "HTTP only") || p.count() > 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	off := newProxy(t, nil, map[string]*fakeProvider{"openai": p})
	if got := off.do(t, http.MethodGet, "/v1/responses", "", upgrade...); got.status != 200 || p.count() != 1 {
		t.Errorf("where nothing is cut: %d %s", got.status, got.body)
	}
}

func TestAnUpgradeOfResponsesPassesWhereTheSettingsSaySo(t *testing.T) {
	p := openAIProvider(t)
	px := newProxy(t, func(o *proxy.Options) {
		pruningOn(o)
		o.Providers["openai"] = proxy.Provider{BaseURL: p.URL + "/v1", WebSocket: proxy.WebSocketPass}
	}, nil)
	got := px.do(t, http.MethodGet, "/v1/responses", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Key", "k")
	if sent := p.last(t); got.status != http.StatusOK || sent.header.Get("Upgrade") != "websocket" || sent.header.Get("Sec-Websocket-Key") != "k" {
		t.Errorf("answered %d %s, the provider was asked with %v", got.status, got.body, sent.header)
	}
}

func TestSignedInWithChatGPT(t *testing.T) {
	api, account := openAIProvider(t), openAIProvider(t)
	px := newProxy(t, nil, map[string]*fakeProvider{"openai": api, "chatgpt": account})
	body := codexTalk(1, func(int) string { return "x" })
	for _, tt := range []struct {
		header []string
		to     *fakeProvider
	}{
		{[]string{"Authorization", "Bearer sk-1"}, api},
		{[]string{"Authorization", "Bearer eyJ", "ChatGPT-Account-ID", "acc"}, account},
	} {
		before := tt.to.count()
		if got := px.do(t, http.MethodPost, "/v1/responses", body, tt.header...); got.status != 200 || tt.to.count() != before+1 {
			t.Errorf("%v: %d %s", tt.header, got.status, got.body)
		}
		if got := tt.to.last(t).header.Get("Authorization"); got != tt.header[1] {
			t.Errorf("Authorization: %q", got)
		}
	}
}
