package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"secateur/internal/mcp/gateway"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// sharedServer is a server over Streamable HTTP that records the methods it receives.
type sharedServer struct {
	mu   sync.Mutex
	sent []string // guarded by mu
}

func (s *sharedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, bad := wire.ParseRequest(body, wire.MaxRequestDepth)
	if r.Method != http.MethodPost || bad != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	s.sent = append(s.sent, m.Method)
	s.mu.Unlock()
	if m.Kind() != wire.Request {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{}`
	if m.Method == "initialize" {
		result = `{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"s","version":"1"}}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(wire.AppendResult(nil, m.ID, []byte(result)))
}

func (s *sharedServer) got(method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.sent, method)
}

// All callers share the connection to a server. None of them changes its subscriptions, log
// messages or pending requests for the others.
func TestNoCallerChangesTheSharedConnection(t *testing.T) {
	shared := &sharedServer{}
	web := httptest.NewServer(shared)
	t.Cleanup(web.Close)
	var subscribed []string
	b := newBench(t, []upstream.Options{{Settings: upstream.Settings{ID: "s", URL: web.URL, Protocol: "legacy"}}}, func(o *gateway.Options) {
		o.Subscribe = func(_ context.Context, id, uri string) ([]byte, error) {
			if subscribed = append(subscribed, id+" "+uri); uri == "x:no" {
				return []byte(`{"code":-32002,"message":"none"}`), nil
			}
			return nil, nil
		}
	})
	for _, c := range []struct{ request, want string }{
		{`"resources/subscribe","params":{"uri":"x:a"}`, `"result":{}`},
		{`"resources/subscribe","params":{"uri":"x:no"}`, `"error":{"code":-32002,"message":"none"}`},
		{`"resources/subscribe"`, `/uri`},
		{`"resources/unsubscribe","params":{"uri":"x:a"}`, `"result":{}`},
		{`"logging/setLevel","params":{"level":"debug"}`, `"result":{}`},
		{`"logging/setLevel","params":{"level":"loud"}`, `/level`},
		{`"subscriptions/listen","params":{"notifications":{}}`, `/mcp/s`},
		{`"ping"`, `"result":{}`},
	} {
		if a := b.post(t, "s", `{"jsonrpc":"2.0","id":1,"method":`+c.request+`}`); !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %s, want %s", c.request, a.body, c.want)
		}
	}
	if want := []string{"s x:a", "s x:no"}; !slices.Equal(subscribed, want) {
		t.Errorf("subscribed to %q, want %q", subscribed, want)
	}
	kept := []string{"resources/subscribe", "resources/unsubscribe", "logging/setLevel", "subscriptions/listen", "notifications/progress", "notifications/roots/list_changed", "notifications/cancelled"}
	for _, method := range kept {
		b.post(t, "s", `{"jsonrpc":"2.0","method":"`+method+`","params":{"uri":"x:a","level":"debug","progressToken":1,"requestId":1}}`)
	}
	b.post(t, "s", `{"jsonrpc":"2.0","method":"notifications/vendor"}`)
	if !shared.got("notifications/vendor") {
		t.Error("a notification that the protocol does not have was not passed on")
	}
	for _, method := range kept {
		if shared.got(method) {
			t.Errorf("the server was sent %s", method)
		}
	}
}
