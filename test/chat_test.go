package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// provider plays recorded answers of a chat completions service, selected by the last user message.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string // guarded by mu
	keys   []string // guarded by mu; the Authorization headers
}

const usage = `"usage":{"prompt_tokens":1200,"completion_tokens":7,"total_tokens":1207,"prompt_tokens_details":{"cached_tokens":1024}}`

func startProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	p.keys = append(p.keys, r.Header.Get("Authorization"))
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	message := func(m string) {
		fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":%s}],%s}`, m, usage)
	}
	switch text := string(body); {
	case strings.HasSuffix(r.URL.Path, "/models"):
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"recorded","object":"model","created":1,"owned_by":"p"}]}`)
	case strings.Contains(text, `"refuse"`):
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`)
	case strings.Contains(text, `"stream":true`):
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range []string{"Hel", "lo ", "🌿"} {
			fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":null}]}\n\n", word)
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
		fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
	case strings.Contains(text, `"role":"tool"`):
		message(`{"role":"assistant","content":"both read"}`)
	case strings.Contains(text, `"tools":[`):
		message(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},{"id":"call_2","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"b\"}"}}]}`)
	case strings.Contains(text, `image_url`):
		message(`{"role":"assistant","content":"a picture"}`)
	default:
		message(`{"role":"assistant","content":"hello"}`)
	}
}

func TestOpenAIClient(t *testing.T) {
	chatWith(t, "openai-client.mjs", []string{
		`{"step":"plain","text":"hello","cached":1024}`,
		`{"step":"stream","text":"Hello 🌿","chunks":5,"total":1207}`,
		`{"step":"tools","calls":["read_file {\"path\":\"a\"}","read_file {\"path\":\"b\"}"]}`,
		`{"step":"results","text":"both read"}`,
		`{"step":"vision","text":"a picture"}`,
		`{"step":"refused","status":429,"code":"rate_limit_exceeded","message":"429 slow down"}`,
		`{"step":"models","models":["recorded","test/recorded"]}`,
	})
}

func TestAISDKClient(t *testing.T) {
	chatWith(t, "ai-sdk-client.mjs", []string{
		`{"step":"plain","text":"hello"}`,
		`{"step":"stream","text":"Hello 🌿"}`,
		`{"step":"tools","text":"both read","steps":2}`,
	})
}

// chatWith runs a client's script through the proxy and compares its output.
func chatWith(t *testing.T, script string, want []string) {
	t.Helper()
	node := need(t, "node")
	if _, err := os.Stat(filepath.Join("npm", "node_modules", "openai")); err != nil {
		lack(t, "the npm packages are not installed; make test installs them")
	}
	upstream := startProvider(t)
	p := start(t, fmt.Sprintf("[providers.test]\nbase_url = %q\n", upstream.URL+"/v1"))
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Dir = "npm"
	cmd.Env = append(os.Environ(), "BASE_URL="+p.url+"/v1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkSteps(t, out, want)
	for _, key := range upstream.keys {
		if key != "Bearer sk-client" {
			t.Errorf("the provider got Authorization %q, want the client's", key)
		}
	}
}

// A masked conversation equals the specification's example, and the rest is unchanged.
func TestOldResultsAreMaskedAndRecoverable(t *testing.T) {
	upstream := startProvider(t)
	p := start(t, fmt.Sprintf("[providers.test]\nbase_url = %q\napi_key = \"sk-own\"\n[observation_masking.schema1]\nwindow_turns = 1\n", upstream.URL+"/v1"))
	result := strings.Repeat("a line of an old result\n", 50)
	quoted, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(id, content string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"read_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":%q,"content":%s}`, id, id, content)
	}
	body := fmt.Sprintf(`{"model":"test/m", "seed":12345678901234567890, "messages":[{"role":"user","content":"go"},%s,%s]}`,
		turn("call_old", string(quoted)), turn("call_new", string(quoted)))
	a := p.post(t, "/v1/chat/completions", body)
	if a.status != 200 || a.header.Get("X-Secateur-Masked") != "1" {
		t.Fatalf("%d, X-Secateur-Masked %q: %s", a.status, a.header.Get("X-Secateur-Masked"), a.body)
	}
	placeholder := fmt.Sprintf(`"[Observation masquée: résultat d’outil ancien (tool_call_id=call_old, outil=read_file, chars=%d)]"`, len(result))
	want := strings.Replace(strings.Replace(body, string(quoted), placeholder, 1), `"test/m"`, `"m"`, 1)
	if sent := upstream.bodies[0]; sent != want {
		t.Errorf("sent\n%s\nwant\n%s", sent, want)
	}
	if key := upstream.keys[0]; key != "Bearer sk-own" {
		t.Errorf("the provider got Authorization %q, want its own key", key)
	}
}
