package app

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/config"
	"secateur/internal/secret"
)

// signRequest signs a request with the key robot, for a body that may differ from the request's.
func signRequest(r *http.Request, key, nonce, body string) {
	sum := sha256.Sum256([]byte(body))
	path, query, _ := strings.Cut(r.RequestURI, "?")
	s := access.Signed{
		Timestamp: strconv.FormatInt(time.Now().Unix()+1, 10), Nonce: nonce, Method: r.Method, Path: path, Query: query,
		BodyHash: hex.EncodeToString(sum[:]),
	}
	for name, value := range map[string]string{
		"X-Secateur-Key": "robot", "X-Secateur-Timestamp": s.Timestamp, "X-Secateur-Nonce": nonce, "X-Secateur-Content-SHA256": s.BodyHash,
		"X-Secateur-Signature": s.Sign(secret.New(key)),
	} {
		r.Header.Set(name, value)
	}
}

// A body that differs from the signed one is unauthorized, at doors that buffer it and at those
// that stream it.
func TestBodyThatWasNotSignedIsUnauthorized(t *testing.T) {
	reached := make(chan string, 16)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil {
			reached <- string(body)
		}
	}))
	defer provider.Close()
	lookup := func(name string) (string, bool) {
		return map[string]string{"T": matrixToken, "ISSUER": "http://127.0.0.1:1"}[name], true
	}
	cfg, mistakes := config.Load("unsigned.toml", []byte(matrixConfig+"[providers.x]\nbase_url = \""+provider.URL+"/v1\"\n"), config.Options{Lookup: lookup})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	doors, err := a.live.Load().routes(&generation{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.closeMCP(t.Context())
	const key = matrixToken + matrixToken
	const sent = `{"jsonrpc":"2.0","id":1,"method":"tools/list","model":"m"}`
	for i, path := range []string{"/api/mcp-gateway/pruner/rpc", "/mcp", "/mcp/pruner", "/rpc", "/v1/chat/completions", "/v1/embeddings?a=1"} {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(sent))
		r.Host = "127.0.0.1:8000"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		signRequest(r, key, "nonce-0123456789-"+strconv.Itoa(i), strings.Replace(sent, "1,", "2,", 1))
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), "invalid_token") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	select {
	case body := <-reached:
		t.Errorf("the provider got it whole: %s", body)
	default:
	}
}
