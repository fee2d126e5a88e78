package test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/test/llm"
)

// sink is a provider that records the headers and the paths of all requests.
type sink struct {
	mu      sync.Mutex
	shown   []string // values of headers
	asked   []string // paths
	answers http.Handler
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	for _, values := range r.Header {
		s.shown = append(s.shown, values...)
	}
	s.asked = append(s.asked, r.URL.Path)
	s.mu.Unlock()
	if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("client_version") {
			_, _ = w.Write([]byte(`{"models":[]}`))
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m","object":"model","type":"model"}],"has_more":false}`))
		return
	}
	s.answers.ServeHTTP(w, r)
}

func (s *sink) saw(canary string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.shown, func(v string) bool { return strings.Contains(v, canary) })
}

func (s *sink) wasAskedFor(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.asked, path)
}

// jwtOf is an unsigned token with these claims. No client checks a signature.
func jwtOf(claims string) string {
	b := base64.RawURLEncoding
	return b.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + b.EncodeToString([]byte(claims)) + ".c2ln"
}

// Every real client sends its credential to its own provider only, when listing models and in a
// conversation.
func TestEveryClientsCredentialReachesItsOwnProviderOnly(t *testing.T) {
	node := newNode(t)
	claude := npmProgram(t, "@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude")
	codex := npmProgram(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	access := jwtOf(fmt.Sprintf(`{"exp":%d,"https://api.openai.com/auth":{"chatgpt_account_id":"acc","chatgpt_plan_type":"pro","chatgpt_user_id":"u"},"email":"a@b.example"}`, time.Now().Add(24*time.Hour).Unix()))
	codexHome := func(t *testing.T, url, login string) string {
		t.Helper()
		home := t.TempDir()
		config := "model = \"gpt-5.6-sol\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\nopenai_base_url = \"" + url + "/v1\"\n[analytics]\nenabled = false\n"
		for name, content := range map[string]string{"config.toml": config, "auth.json": login} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return home
	}
	claudeEnv := func(t *testing.T, url, credential string) []string {
		t.Helper()
		return []string{
			"HOME=" + t.TempDir(), "ANTHROPIC_BASE_URL=" + url, credential, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1",
		}
	}
	for _, c := range []struct {
		name, own, canary string
		lists             bool // it requests the list of models
		run               func(t *testing.T, w *chatRig)
	}{
		{"Anthropic's SDK", "anthropic", "sk-ant-canary", true, func(t *testing.T, w *chatRig) {
			t.Helper()
			w.run(t, "npm", []string{"CLIENT=anthropic", "KEY=sk-ant-canary"}, []string{node, "models-client.mjs"})
		}},
		{"OpenAI's SDK", "openai", "sk-canary", true, func(t *testing.T, w *chatRig) {
			t.Helper()
			w.run(t, "npm", []string{"CLIENT=openai", "KEY=sk-canary"}, []string{node, "models-client.mjs"})
		}},
		{"Claude Code with a key", "anthropic", "sk-ant-canary", false, func(t *testing.T, w *chatRig) {
			t.Helper()
			w.run(t, t.TempDir(), claudeEnv(t, w.url, "ANTHROPIC_API_KEY=sk-ant-canary"), []string{claude, "-p", "hello", "--model", "claude-opus-5-5"})
		}},
		{"Claude Code with a subscription", "anthropic", "sk-ant-oat01-canary", false, func(t *testing.T, w *chatRig) {
			t.Helper()
			w.run(t, t.TempDir(), claudeEnv(t, w.url, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-canary"), []string{claude, "-p", "hello", "--model", "claude-opus-5-5"})
		}},
		{"Codex with a key", "openai", "sk-canary", false, func(t *testing.T, w *chatRig) {
			t.Helper()
			home := codexHome(t, w.url, `{"OPENAI_API_KEY":"sk-canary"}`)
			w.run(t, t.TempDir(), []string{"HOME=" + home, "CODEX_HOME=" + home}, []string{codex, "exec", "--skip-git-repo-check", "hello"})
		}},
		{"Codex signed in with ChatGPT", "chatgpt", access, true, func(t *testing.T, w *chatRig) {
			t.Helper()
			login := fmt.Sprintf(`{"OPENAI_API_KEY":null,"tokens":{"id_token":%q,"access_token":%q,"refresh_token":"r","account_id":"acc"},"last_refresh":%q}`,
				access, access, time.Now().UTC().Format(time.RFC3339))
			home := codexHome(t, w.url, login)
			out := w.run(t, t.TempDir(), []string{"HOME=" + home, "CODEX_HOME=" + home}, []string{codex, "exec", "--skip-git-repo-check", "hello"})
			if strings.Contains(out, "failed to decode models response") {
				t.Errorf("Codex cannot read the list of models: %s", out)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sinks := map[string]*sink{}
			config := "store = { url = \"memory:\" }\n"
			for _, name := range []string{"anthropic", "openai", "chatgpt", "deepseek"} {
				s := &sink{answers: &llm.Provider{Say: func(llm.Turn) llm.Reply { return llm.Reply{Text: "hello"} }}}
				server := httptest.NewServer(s)
				t.Cleanup(server.Close)
				sinks[name] = s
				config += fmt.Sprintf("[providers.%s]\nbase_url = %q\n", name, server.URL+"/v1")
			}
			w := &chatRig{url: startDaemon(t, "default_provider = \"openai\"\n"+config).url}
			c.run(t, w)
			for name, s := range sinks {
				if got, want := s.saw(c.canary), name == c.own; got != want {
					t.Errorf("%s saw the credential: %v, want %v", name, got, want)
				}
			}
			if c.lists && !sinks[c.own].wasAskedFor("/v1/models") {
				t.Errorf("%s was not asked for its models: %v", c.own, sinks[c.own].asked)
			}
		})
	}
}
