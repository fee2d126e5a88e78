package test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The documented program of docs/access.md that signs its requests, in another language, by the
// recipe above it.
func TestTheDocumentedSignatureIsTaken(t *testing.T) {
	python := need(t, "python3")
	doc, err := os.ReadFile("../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?s)## Agents with budgets\n.*?```toml\n(.*?)```.*?```python\n(.*?)```").FindSubmatch(doc)
	if recipe == nil {
		t.Fatal("the recipe is not there any more")
	}
	const secret = "0123456789abcdef0123456789abcdef-of-the-test"
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer key-of-the-provider" || r.Header.Get("X-Secateur-Signature") != "" || !strings.Contains(string(body), "kimi-k2") {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}`)
	}))
	defer provider.Close()
	p := start(t, strings.NewReplacer("${ROBOT_SECRET}", secret, "${MOONSHOT_API_KEY}", "key-of-the-provider", "https://api.moonshot.ai/v1", provider.URL+"/v1").
		Replace("[store]\nurl = \"memory:\"\n"+string(recipe[1])))
	run := func(secret string) (string, error) {
		cmd := exec.CommandContext(t.Context(), python, "-c", string(recipe[2]))
		cmd.Env = append(os.Environ(), "ROBOT_SECRET="+secret, "SECATEUR_URL="+p.url)
		cmd.WaitDelay = time.Minute
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	var out string
	eventually(t, time.Minute, "a signature from after the second in which the program started", func() (ok bool) {
		out, err = run(secret)
		return err == nil || !strings.Contains(out, "401")
	})
	if err != nil || !strings.Contains(out, `{"issuer":"hmac","subject":"robot","tenant":"robots","roles":[]}`) || !strings.Contains(out, `"content":"fine"`) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(secret + "?"); err == nil || !strings.Contains(out, "401") {
		t.Errorf("with another secret: %v\n%s", err, out)
	}
}
