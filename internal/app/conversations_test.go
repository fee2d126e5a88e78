package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/ops/admin"
	"secateur/internal/store/ledger"
)

// A conversation lists each of its requests by the id in its response, with the cost and the
// reason.
func TestControlConversations(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"well"}}],"usage":{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":400}}}`))
	}))
	defer provider.Close()
	c := control(t, "[providers.local]\nbase_url = \""+provider.URL+"\"\nprices = { input = 1.0, cached_input = 0.1, output = 1.0 }\n")
	for _, id := range []string{"first-1", "second-2"} {
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8000/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Request-Id", id)
		w := httptest.NewRecorder()
		c.mux.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			t.Fatalf("chat: %d %s", w.Code, w.Body)
		}
	}
	list := get[admin.Page[ledger.Conversation]](t, c, "/conversations?request=second-2").Items
	if len(list) != 1 || list[0].Provider != "local" || list[0].SpentUSD <= 0 || list[0].SpentUSD != list[0].PassthroughUSD {
		t.Fatalf("conversations = %+v", list)
	}
	one := get[ledger.Account](t, c, "/conversations/"+list[0].ID)
	if len(one.Requests) != 2 || one.Requests[1].RequestID != "second-2" || one.Requests[0].PromptTokens != 1000 || one.Requests[0].CachedTokens != 400 ||
		one.Requests[0].Why == "" || one.Requests[0].At.IsZero() {
		t.Errorf("account = %+v", one)
	}
	if none := get[admin.Page[ledger.Conversation]](t, c, "/conversations?request=none").Items; len(none) != 0 {
		t.Errorf("of an unknown request: %+v", none)
	}
	res, body := c.ask(t, "GET", "/conversations/none", "")
	wantProblem(t, res, body, 404, "invalid_request")
}
