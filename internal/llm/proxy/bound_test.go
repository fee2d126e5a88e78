package proxy_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

const howToGoOn = " secateur has no record of how it sent this conversation: start a new session, or fork this one ('claude --resume ID --fork-session', 'codex fork')."

// refusals are providers' errors about reasoning that is invalid in its place, by path. END marks
// the end of the message.
var refusals = []struct{ path, provider, refusal string }{
	{"/v1/messages", "anthropic", `{"type":"error", "error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" +
		` block. The block is bound to a different conversation.END"},"request_id":"r"}` + "\n"},
	{"/v1/chat/completions", "router", `{"error": {"message":"Provider returned error: \"The block is bound to a different conversation.\"END","code":400,"metadata":{"provider_name":"Anthropic"}}}`},
	{"/v1/responses", "openai", `{"error":{"message":"The encrypted content gAAA…Rg== could not be verified.END","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`},
}

func turnIn(path string, turns int) string {
	switch path {
	case "/v1/messages":
		return claudeTalk(turns, true, partOf)
	case "/v1/responses":
		return codexTalk(turns, shell)
	}
	return agentTalk(turns)
}

// agentTalk is a conversation of that many tool turns in chat completions.
func agentTalk(turns int) string {
	var b strings.Builder
	b.WriteString(`{"model":"anthropic/claude-opus-5.5","messages":[{"role":"user","content":"find compute_part_3"}`)
	for i := range turns {
		id := strconv.Itoa(i)
		b.WriteString(`,{"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.text","signature":"s` + id + `"}],"tool_calls":[{"id":"call_` + id +
			`","type":"function","function":{"name":"cat","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_` + id + `","content":` + quoted(partOf(i)) + `}`)
	}
	return b.String() + `]}`
}

func TestARefusalInAConversationWithoutARecordSaysHowToGoOn(t *testing.T) {
	for _, tt := range refusals {
		whole, advised := strings.Replace(tt.refusal, "END", "", 1), strings.Replace(tt.refusal, "END", howToGoOn, 1)
		var status atomic.Int64
		var said atomic.Value
		p := openAIProvider(t)
		if tt.provider == "anthropic" {
			p = anthropicProvider(t)
		}
		answer := p.answer
		p.answer = func(w http.ResponseWriter, r *http.Request) {
			if status.Load() == 0 {
				answer(w, r)
				return
			}
			text, _ := said.Load().(string)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			w.WriteHeader(int(status.Load()))
			_, _ = io.WriteString(w, text)
		}
		refuse := func(code int64, text string) { said.Store(text); status.Store(code) }
		want := func(px *proxied, turns int, why, text string) {
			t.Helper()
			got := px.do(t, http.MethodPost, tt.path, turnIn(tt.path, turns))
			px.running.Wait()
			if got.err != nil || got.body != text || got.header.Get("Content-Length") != strconv.Itoa(len(text)) {
				t.Errorf("%s, %s: %v, Content-Length %s of %d\n%s", tt.path, why, got.err, got.header.Get("Content-Length"), len(text), got.body)
			}
		}
		providers := map[string]*fakeProvider{tt.provider: p}
		lost := newProxy(t, pruningOn, providers)
		refuse(400, whole)
		want(lost, 3, "the store is lost", advised)
		want(lost, 3, "the client tries again", advised)
		want(newProxy(t, nil, providers), 3, "nothing is ever cut here", whole)
		refuse(403, whole)
		want(newProxy(t, pruningOn, providers), 3, "another status", whole)
		const other = `{"error":{"message":"max_tokens: too large"}}`
		refuse(400, other)
		want(newProxy(t, pruningOn, providers), 3, "another refusal", other)
		bare := strings.Replace(whole, `"error":{"`, `"errors":{"`, 1)
		bare = strings.Replace(bare, `"error": {"`, `"errors":{"`, 1)
		refuse(400, bare)
		want(newProxy(t, pruningOn, providers), 3, "an error of another form", bare)

		known := newProxy(t, pruningOn, providers)
		status.Store(0)
		known.do(t, http.MethodPost, tt.path, turnIn(tt.path, 2))
		known.running.Wait()
		refuse(400, whole)
		want(known, 3, "the conversation is known", whole)
	}
}

func TestAPackedRefusalSaysHowToGoOn(t *testing.T) {
	tt := refusals[0]
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, strings.Replace(tt.refusal, "END", "", 1))
	_ = z.Close()
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(packed.Bytes())
	})
	px := newProxy(t, pruningOn, anthropicOnly(p))
	got := px.do(t, http.MethodPost, tt.path, turnIn(tt.path, 3), "Accept-Encoding", "gzip")
	if got.body != strings.Replace(tt.refusal, "END", howToGoOn, 1) || got.header.Get("Content-Encoding") != "" {
		t.Errorf("answered %v %s", got.header, got.body)
	}
}
