package test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// A tenant that fills the store, wherever it is, leaves room for others: their results are still
// cut and can be restored.
func TestEachTenantHasItsShareOfTheStore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		noise := make([]byte, 20_000)
		_, _ = rand.Read(noise)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, hex.EncodeToString(noise))
	}))
	defer server.Close()
	for kind, url := range map[string]string{"memory": "memory:", "file": "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "store"))} {
		t.Run(kind, func(t *testing.T) {
			p := start(t, "[[servers]]\nid = \"files\"\ntransport = \"rpc\"\nurl = \""+server.URL+"\"\n[store]\nmax_bytes = 1000000\nput_timeout_ms = 0\nurl = \""+url+"\"\n"+
				tokenRow("alice", "token-of-alice", "team-a")+tokenRow("bob", "token-of-bob", "team-b"))
			isCut := func(token string) bool {
				a := p.as(t, token, "/api/mcp-gateway/files/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`)
				if a.status != http.StatusOK {
					t.Fatalf("%d %s", a.status, a.body)
				}
				return a.header.Get("X-Secateur-Originals") != ""
			}
			cuts := 0
			for ; isCut("token-of-alice"); cuts++ {
				if cuts > 100 {
					t.Fatal("the store is never full")
				}
			}
			if cuts < 5 {
				t.Errorf("alice finds room for %d texts", cuts)
			}
			if !isCut("token-of-bob") {
				t.Errorf("alice's %d texts have left no room for bob's first", cuts)
			}
		})
	}
}
