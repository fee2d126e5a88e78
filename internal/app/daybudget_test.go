package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/config"
)

// A model's daily budget is counted from the provider's usage, and a restart does not reset it.
func TestDayBudgetHoldsAtTheDoorAndOverARestart(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":60,"completion_tokens":40}}`)
	}))
	defer provider.Close()
	cfg, mistakes := config.Load("budget.toml", []byte(`
[[auth.tokens]]
name = "dev"
hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
[providers.x]
base_url = "`+provider.URL+`/v1"
[[limits]]
name = "budget"
model = "*"
by = ["principal"]
tokens_per_day = 150
[store]
url = "memory:"
`), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	state := t.TempDir()
	ask := func(doors http.Handler) (status int, body string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
		r.Host = "127.0.0.1:8000"
		r.Header.Set("Authorization", "Bearer test")
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for life, want := range [][]int{{200}, {200, 429}, {429}} {
		a, err := New(Options{Config: cfg, Version: "test", StateDir: state})
		if err != nil {
			t.Fatal(err)
		}
		doors, err := a.live.Load().routes(&generation{})
		if err != nil {
			t.Fatal(err)
		}
		for i, status := range want {
			if got, body := ask(doors); got != status || status == 429 && !strings.Contains(body, "rate_limit_exceeded") {
				t.Errorf("life %d, request %d: %d %s, want %d", life, i, got, body, status)
			}
		}
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(state, "budgets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want 0600", info, err)
	}
}
