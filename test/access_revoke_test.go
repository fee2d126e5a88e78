package test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"secateur/internal/access/auth"
	"secateur/internal/app"
	"secateur/internal/config"
)

// A daemon follows the token file: a new token is accepted, and the streams of a revoked one end.
func TestRevokedTokenEndsItsStreams(t *testing.T) {
	state := t.TempDir()
	file := auth.TokenFileOf(auth.Default(), state)
	token, _, err := file.Add(auth.Token{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, mistakes := config.Load("test.toml", []byte("listen = \"127.0.0.1:0\"\n[store]\nurl = \"memory:\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	listening := make(chan net.Addr, 1)
	a, err := app.New(app.Options{
		Config: cfg, Version: "test", StateDir: state, Listening: func(addr net.Addr) { listening <- addr },
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	p := &program{url: "http://" + (<-listening).String(), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}

	opened := p.as(t, token, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Accept": "text/event-stream", "Mcp-Session-Id": opened.header.Get("Mcp-Session-Id"),
	} {
		req.Header.Set(name, value)
	}
	res, err := p.http.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %v %v", res, err)
	}
	if err := file.Revoke("laptop"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body) // until it ends: with the test's time if not by itself
	res.Body.Close()
	if got := p.as(t, token, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", opened.header.Get("Mcp-Session-Id")); got.status != http.StatusUnauthorized {
		t.Errorf("the token after its revocation: %d %s", got.status, got.body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A token from a message ends its streams like any other: the call that brought it, and the stream
// of the session that it opened.
func TestRevokedTokenOfAMessageEndsItsStreams(t *testing.T) {
	state := t.TempDir()
	file := auth.TokenFileOf(auth.Default(), state)
	token, _, err := file.Add(auth.Token{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, mistakes := config.Load("test.toml", []byte("listen = \"127.0.0.1:0\"\nresponse_timeout = 600\n[store]\nurl = \"memory:\"\n"+peerConfig(t, "s", "plain", "startup_timeout = 60\n")), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := startIn(t, cfg, state)
	proxy := `"proxy":{"authToken":"` + token + `"}`
	send := func(session, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := p.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	opened := send("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"},`+proxy+`}}`)
	_, _ = io.Copy(io.Discard, opened.Body)
	opened.Body.Close()
	session := opened.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("initialize: %d", opened.StatusCode)
	}
	called := make(chan string, 1)
	go func() {
		res := send(session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s::hang","arguments":{},`+proxy+`}}`)
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		called <- string(body)
	}()
	ask := func(method string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, p.url+"/mcp", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Mcp-Session-Id", session)
		res, err := p.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	stream := ask(http.MethodGet)
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %d", stream.StatusCode)
	}
	eventually(t, time.Minute, "the call is under way", func() bool {
		return strings.Contains(p.as(t, token, "/api/mcp-gateway/s/rpc", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hung"}}`).body, `"text":"1"`)
	})
	if err := file.Revoke("laptop"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stream.Body)
		close(ended)
	}()
	for range 2 {
		select {
		case <-ended:
			ended = nil
		case body := <-called:
			if strings.Contains(body, `"result"`) {
				t.Errorf("the call: %s", body)
			}
		case <-time.After(time.Minute):
			t.Error("something that the token has opened goes on")
		}
	}
	stream.Body.Close()
	again := map[string]*http.Response{
		"its stream":     ask(http.MethodGet),
		"its end":        ask(http.MethodDelete),
		"a notification": send(session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
		"a response":     send(session, `{"jsonrpc":"2.0","id":7,"result":{}}`),
	}
	for what, res := range again {
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s after the revocation: %d", what, res.StatusCode)
		}
	}
}
