package test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"secateur/internal/app"
	"secateur/internal/auth"
	"secateur/internal/config"
)

// A daemon follows the token file: a new token is good, and what the holder of a revoked one has open ends.
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
	_, _ = io.Copy(io.Discard, res.Body) // until it ends: with the test's time, if it does not by itself
	res.Body.Close()
	if got := p.as(t, token, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", opened.header.Get("Mcp-Session-Id")); got.status != http.StatusUnauthorized {
		t.Errorf("the token after its revocation: %d %s", got.status, got.body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
