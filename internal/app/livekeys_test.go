package app

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"secateur/internal/config"
)

const prunerCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"prn_00000000000000000000000000","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":false}}}`

// gate posts to a server through the gateway.
func (r *reloadable) gate(server, body string, headers ...string) (int, string) {
	r.t.Helper()
	return r.do("POST", "/api/mcp-gateway/"+server+"/rpc", body, append(headers, "Content-Type", "application/json")...)
}

func TestReloadOfRules(t *testing.T) {
	r := startReloadable(t, demo1)
	deny := demo1 + "[[acl]]\ntool = \"recover_text\"\naction = \"deny\"\n"
	for range 2 {
		if _, body := r.gate("pruner", prunerCall); !strings.Contains(body, "prune_id_not_found") {
			t.Fatalf("without a rule: %s", body)
		}
		if out := r.reload(deny); !slices.Equal(out.Keys, []string{"acl"}) || len(out.Restarted)+len(out.RestartNeeded) > 0 {
			t.Errorf("%+v", out)
		}
		if _, body := r.gate("pruner", prunerCall); !strings.Contains(body, "forbidden") {
			t.Errorf("with the rule: %s", body)
		}
		if strings.Contains(r.tools("pruner"), "recover_text") {
			t.Error("the tool is still listed")
		}
		r.reload(demo1)
	}
}

// A reload keeps the counts of an unchanged limit.
func TestReloadOfLimits(t *testing.T) {
	limit := "[[limits]]\nname = \"few\"\nrate = \"2/d\"\n"
	r := startReloadable(t, demo1+limit)
	for n, want := range []int{200, 200, 429} {
		if got, body := r.gate("pruner", prunerCall); got != want {
			t.Errorf("call %d: %d %s, want %d", n, got, body, want)
		}
	}
	r.reload(demo1 + limit + "[naming]\nseparator = \"__\"\n")
	if got, _ := r.gate("pruner", prunerCall); got != http.StatusTooManyRequests {
		t.Errorf("after a reload that leaves the limit: %d, want 429", got)
	}
	r.reload(demo1)
	if got, _ := r.gate("pruner", prunerCall); got != http.StatusOK {
		t.Errorf("after a reload without the limit: %d, want 200", got)
	}
	r.reload("rate_limit_per_minute = 1\n" + demo1)
	for n, want := range []int{200, 429} {
		if got, _ := r.gate("pruner", prunerCall); got != want {
			t.Errorf("call %d of a minute: %d, want %d", n, got, want)
		}
	}
}

func TestReloadOfMaskingAndPages(t *testing.T) {
	r := startReloadable(t, demo1)
	cut := func() bool {
		_, body := r.gate("one", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`)
		if strings.Contains(body, `"error"`) {
			t.Fatal(body)
		}
		return strings.Contains(body, "OBSERVATION_MASKED")
	}
	gateway := "[observation_masking.gateway]\nmax_chars = "
	if r.reload(demo1 + gateway + "10000000\nhead_chars = 10\ntail_chars = 10\n"); cut() {
		t.Error("cut above the bound")
	}
	if r.reload(demo1 + gateway + "100\nhead_chars = 10\ntail_chars = 10\n"); !cut() {
		t.Error("not cut below the bound")
	}
	session := r.initialize()
	page := func() int {
		_, body := r.do("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Mcp-Session-Id", session)
		return strings.Count(body, `"inputSchema"`)
	}
	if n := page(); n < 3 {
		t.Fatalf("%d tools", n)
	}
	if r.reload("page_size = 2\n" + demo1); page() != 2 {
		t.Errorf("%d tools on a page, want 2", page())
	}
}

// initialize opens a session at /mcp.
func (r *reloadable) initialize(headers ...string) string {
	r.t.Helper()
	req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8000/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != http.StatusOK || w.Header().Get("Mcp-Session-Id") == "" {
		r.t.Fatalf("initialize: %d %s", w.Code, w.Body)
	}
	return w.Header().Get("Mcp-Session-Id")
}

func TestReloadOfProviders(t *testing.T) {
	provider := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"`+name+`","choices":[]}`)
		}))
		t.Cleanup(s.Close)
		return "[providers." + name + "]\nbase_url = \"" + s.URL + "\"\n"
	}
	first, second := provider("first"), provider("second")
	r := startReloadable(t, first)
	for _, c := range []struct{ config, want string }{{first, "first"}, {second, "second"}, {first, "first"}} {
		r.reload(c.config)
		_, body := r.do("POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "Content-Type", "application/json")
		if !strings.Contains(body, `"id":"`+c.want+`"`) {
			t.Errorf("%s: %s", c.want, body)
		}
	}
}

// tokenRow is a row of [[auth.tokens]].
func tokenRow(name, text, more string) string {
	sum := sha256.Sum256([]byte(text))
	return "[[auth.tokens]]\nname = \"" + name + "\"\nhash = \"sha256:" + hex.EncodeToString(sum[:]) + "\"\n" + more
}

// A credential that a reload removes is refused from then on, and its streams end. The others are
// not affected.
func TestReloadOfCredentialsEndsStreams(t *testing.T) {
	signed := "[[auth.hmac]]\nkey_id = \"robot\"\nsecret = \"" + strings.Repeat("s", 32) + "\"\n"
	r := startReloadable(t, demo1+tokenRow("a", "token-a", "")+tokenRow("b", "token-b", "")+signed)
	web := httptest.NewServer(r.App)
	defer web.Close()
	a, b := r.listen(web, "Authorization", "Bearer token-a"), r.listen(web, "Authorization", "Bearer token-b")
	defer b.Close()
	r.reload(demo1 + tokenRow("b", "token-b", "") + signed)
	if err := a.end(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of a revoked token: %v", err)
	}
	for text, want := range map[string]int{"token-a": 401, "token-b": 200} {
		if got, body := r.gate("pruner", prunerCall, "Authorization", "Bearer "+text); got != want {
			t.Errorf("%s: %d %s, want %d", text, got, body, want)
		}
	}
	// Another token under the same name is another credential.
	r.reload(demo1 + tokenRow("b", "token-c", "") + signed)
	if err := b.end(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of a token that was replaced: %v", err)
	}
	// Changed roles are another grant; an unchanged one continues.
	c := r.listen(web, "Authorization", "Bearer token-c")
	r.reload("page_size = 7\n" + demo1 + tokenRow("b", "token-c", "") + signed)
	r.reload(demo1 + tokenRow("b", "token-c", "roles = [\"dev\"]\n") + signed)
	if err := c.end(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of a token with other roles: %v", err)
	}
}

func TestReloadThatAsksForATokenEndsWhatIsOpenWithout(t *testing.T) {
	r := startReloadable(t, demo1)
	web := httptest.NewServer(r.App)
	defer web.Close()
	open := r.listen(web)
	r.reload("auth_token = \"a\"\n" + demo1)
	if err := open.end(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of nobody: %v", err)
	}
	mine := r.listen(web, "Authorization", "Bearer a")
	r.reload("auth_token = \"b\"\n" + demo1)
	if err := mine.end(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream of the old token: %v", err)
	}
	if got, _ := r.gate("pruner", prunerCall, "Authorization", "Bearer b"); got != http.StatusOK {
		t.Errorf("the new token: %d", got)
	}
}

// eventStream is a listening client.
type eventStream struct {
	io.Closer
	read *bufio.Reader
}

// listen opens a session and its stream for server messages.
func (r *reloadable) listen(web *httptest.Server, headers ...string) *eventStream {
	r.t.Helper()
	session := r.initialize(headers...)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, web.URL+"/mcp", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", session)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := web.Client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		r.t.Fatalf("GET /mcp: %d %s", res.StatusCode, text)
	}
	return &eventStream{res.Body, bufio.NewReader(res.Body)}
}

// end waits for the end of the stream.
func (s *eventStream) end() error {
	defer s.Close()
	_, err := io.Copy(io.Discard, s.read)
	return err
}

// A listener that other machines reach needs a credential, even if the new file changes the
// address.
func TestReloadDoesNotOpenAListenerToStrangers(t *testing.T) {
	r := startReloadable(t, "listen = \"0.0.0.0:0\"\nauth_token = \"a-long-enough-token\"\n"+demo1)
	r.write("listen = \"127.0.0.1:0\"\n" + demo1)
	if _, err := r.Reload(t.Context(), Apply); err == nil || !strings.Contains(err.Error(), "nothing controls access") {
		t.Errorf("Reload: %v", err)
	}
	if !r.live.Load().auth.Asks() {
		t.Error("nothing is asked any more")
	}
}

// Every key is either applied or reported as waiting for a restart.
func TestWhichKeysWaitForARestart(t *testing.T) {
	var waiting []string
	for _, key := range config.TopKeys() {
		if key != "servers" && waitsForRestart(key) {
			waiting = append(waiting, key)
		}
	}
	want := []string{"advertise", "listen", "store", "telemetry"}
	if !slices.Equal(waiting, want) {
		t.Errorf("waiting for a restart: %q, want %q", waiting, want)
	}
}
