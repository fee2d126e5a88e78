package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/llm/proxy"
)

// redacting makes a proxy hide a field and a pattern in the output of models.
func redacting(t *testing.T) func(*proxy.Options) {
	t.Helper()
	rules, err := access.NewRules([]access.Rule{
		{Action: access.ActionRedact, Fields: []string{"password"}, Patterns: []string{"sk-[a-z0-9]{8,}"}, In: []string{access.InResults}},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *proxy.Options) { o.Admission = control }
}

func TestAnswersOfModelsAreRedacted(t *testing.T) {
	answer := `{"choices":[{"message":{"role":"assistant","content":"it is sk-abcdefgh1, I think","tool_calls":[{"function":{"name":"f","arguments":"{\"password\":\"x\",\"n\":1}"}}]}}]}`
	provider := newProvider(t, jsonAnswer(answer))
	px := newProxy(t, redacting(t), one(provider))
	got := px.post(t, `{"model":"m","messages":[{"role":"user","content":"sk-abcdefgh2"}]}`, "Accept-Encoding", "gzip")
	want := strings.NewReplacer("sk-abcdefgh1", "[redacted]", `\"password\":\"x\"`, `\"password\":\"[redacted]\"`).Replace(answer)
	if got.body != want || got.status != http.StatusOK {
		t.Errorf("%d %s, want %s", got.status, got.body, want)
	}
	asked := provider.last(t)
	if !strings.Contains(string(asked.body), "sk-abcdefgh2") {
		t.Error("a rule about results changed what is sent")
	}
	if e := asked.header.Get("Accept-Encoding"); e != "identity" {
		t.Errorf("the provider may encode what we have to read: %q", e)
	}
}

func TestStreamsOfModelsAreRedactedAcrossTheirPieces(t *testing.T) {
	chunk := func(choice int, delta string) string {
		return fmt.Sprintf(`data: {"id":"sk-","choices":[{"index":%d,"delta":{%s}}]}`+"\n\n", choice, delta)
	}
	stream := chunk(0, `"role":"assistant","content":"a sk-"`) + chunk(1, `"content":"other"`) + chunk(0, `"content":"abcd"`) +
		chunk(0, `"content":"efgh9 b"`) +
		chunk(0, `"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"pass"}}]`) +
		chunk(0, `"tool_calls":[{"index":0,"function":{"arguments":"word\":\"x\"}"}}]`) +
		": comment\n\ndata: [DONE]\n\n"
	provider := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	})
	px := newProxy(t, redacting(t), one(provider))
	got := px.post(t, `{"model":"m","stream":true,"messages":[]}`)
	texts, arguments := map[int]string{}, ""
	for line := range strings.Lines(got.body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event struct {
			Choices []struct {
				Index int `json:"index"`
				Delta struct {
					Content string `json:"content"`
					Calls   []struct {
						Function struct {
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		for _, c := range event.Choices {
			texts[c.Index] += c.Delta.Content
			for _, call := range c.Delta.Calls {
				arguments += call.Function.Arguments
			}
		}
	}
	if texts[0] != "a [redacted] b" || texts[1] != "other" || arguments != `{"password":"[redacted]"}` {
		t.Errorf("%q %q %q from\n%s", texts[0], texts[1], arguments, got.body)
	}
	if !strings.HasSuffix(got.body, ": comment\n\ndata: [DONE]\n\n") {
		t.Errorf("the end of the stream is lost: %s", got.body)
	}
}

func TestOtherFormatsStreamTheirPiecesToo(t *testing.T) {
	for name, stream := range map[string]string{
		"messages": `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sk-ab"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"cdefgh"}}` + "\n\n",
		"responses": `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"sk-ab"}` + "\n\n" +
			`data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"cdefgh"}` + "\n\n" +
			`data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"sk-abcdefgh"}` + "\n\n",
	} {
		provider := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream+"data: [DONE]\n\n")
		})
		got := newProxy(t, redacting(t), one(provider)).post(t, `{"model":"m","stream":true,"messages":[]}`)
		if strings.Contains(got.body, "cdefgh") || !strings.Contains(got.body, "[redacted]") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

func TestAnAnswerThatCannotBeReadIsNotPassedOn(t *testing.T) {
	provider := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "secret")
	})
	got := newProxy(t, redacting(t), one(provider)).post(t, `{"model":"m","messages":[]}`)
	if got.status != http.StatusBadGateway || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s, want 502", got.status, got.body)
	}
}

// A response that is too long to be read whole is not passed on, since its end was not checked.
func TestALongAnswerIsNotPassedUnredacted(t *testing.T) {
	provider := newProvider(t, jsonAnswer(`{"choices":[{"message":{"content":"`+strings.Repeat("x", 2000)+` sk-abcdefgh1"}}]}`))
	px := newProxy(t, func(o *proxy.Options) {
		redacting(t)(o)
		o.MaxBodyBytes = 1000
	}, one(provider))
	got := px.post(t, `{"model":"m","messages":[]}`)
	if got.status == http.StatusOK || strings.Contains(got.body, "xxx") || strings.Contains(got.body, "sk-") {
		t.Errorf("%d %.200s, want an error without the answer", got.status, got.body)
	}
}
