package test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/store/redisdb/redistest"
)

var updateStores = flag.Bool("update-stores", false, "write what this version keeps of a conversation to testdata/stores")

// kept is what a version has stored of a conversation, in Redis (keys and values) or in files
// (paths and contents). It also holds what the version had sent.
type kept struct {
	Sent  string            `json:"sent"` // the messages of its last request, as sent
	Store map[string][]byte `json:"store"`
}

// earlier are stores in testdata, of versions with a changed format. Replicas of two versions share
// a store during an upgrade, and files outlive a version. "answered" is the store after an answered
// request, "underway" during one. To add this version's: go test -run TestWhatAnEarlierVersionKept
// ./test -update-stores, rename its output, and name it here.
var earlier = []string{"1-answered", "1-underway", "2-answered", "2-underway"}

// Stores of an earlier version are read: a conversation continues in the bytes in which it was
// sent, although the current settings would prune it differently. Its originals are recovered.
func TestWhatAnEarlierVersionKeptIsRead(t *testing.T) {
	shape := shapeOf["/v1/chat/completions"]
	talk := func(turns int) string {
		return shape.talk(slices.Repeat([]int{1}, turns), func(turn int) int {
			if turn == 1 {
				return 400
			}
			return 0
		})
	}
	for _, kind := range []string{"redis", "file"} {
		if *updateStores {
			keepStore(t, kind, talk(1), talk(2))
		}
		for _, version := range earlier {
			t.Run(version+" in "+kind, func(t *testing.T) {
				content, err := os.ReadFile(filepath.Join("testdata", "stores", version+"."+kind+".json"))
				if err != nil {
					t.Fatal(err)
				}
				var was kept
				if err := json.Unmarshal(content, &was); err != nil {
					t.Fatal(err)
				}
				url := restore(t, kind, was.Store)
				p, sent := upgraded(t, url, 4000, nil)
				if got := p.post(t, "/v1/chat/completions", talk(3)); got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if body := <-sent; !strings.HasPrefix(body, was.Sent) {
					t.Errorf("what was sent goes out otherwise now:\n%.300s\nwas\n%.300s", body, was.Sent)
				}
				_, rest, _ := strings.Cut(was.Sent, "prn_")
				back := p.post(t, "/rpc", call(1, "recover_text", `{"prune_id":"prn_`+rest[:26]+`","ranges":[{"start_line":400,"end_line":400}],"include_line_numbers":false}`))
				if !strings.Contains(back.body, "part_1_398") {
					t.Errorf("the original: %.300s", back.body)
				}
			})
		}
	}
}

// A newer version's data is left alone: the program does not start beside it, and says why.
func TestANewerVersionInRedisIsLeftAlone(t *testing.T) {
	server := redistest.Start(t)
	was := map[string]string{"secateur:schema": "2", "secateur:v2:r:{x}": "a record that nobody here can read"}
	for key, value := range was {
		if err := server.Client().Set(t.Context(), key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "listen = \"127.0.0.1:0\"\n[store]\nurl = %q\n", server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), secateur(t), "serve", "--config", config).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("newer version")) {
		t.Errorf("serve: %v\n%s", err, out)
	}
	for _, key := range server.Client().Keys(t.Context(), "*").Val() {
		if got := server.Client().Get(t.Context(), key).Val(); got != was[key] {
			t.Errorf("%s = %q, was %q", key, got, was[key])
		}
	}
}

// upgraded runs a program with a store that prunes results to target characters, and returns the
// requests to its provider. The provider calls underway, if not nil, before it answers.
func upgraded(t *testing.T, url string, target int, underway func(body string)) (*program, <-chan string) {
	t.Helper()
	sent := make(chan string, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if underway != nil {
			underway(string(body))
		}
		sent <- string(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":9000,"completion_tokens":1}}`)
	}))
	t.Cleanup(provider.Close)
	return start(t, fmt.Sprintf(`
[store]
url = %q
ttl_s = 315360000
sent_ttl_s = 315360000
put_timeout_ms = 30000
[context_pruning]
enabled = true
target_chars = %d
[providers.main]
format = "chat"
base_url = %q
api_key = "k"
`, url, target, provider.URL)), sent
}

// keepStore writes what this version stores of a conversation.
func keepStore(t *testing.T, kind string, talks ...string) {
	t.Helper()
	url, snapshot := newStore(t, kind)
	var underway kept
	p, sent := upgraded(t, url, 2500, func(body string) { underway = kept{Sent: strings.TrimSuffix(body, "]}"), Store: snapshot()} })
	for _, talk := range talks {
		if got := p.post(t, "/v1/chat/completions", talk); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		<-sent
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	for name, was := range map[string]kept{"underway": underway, "answered": {underway.Sent, snapshot()}} {
		content, err := json.MarshalIndent(was, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join("testdata", "stores"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "stores", "new-"+name+"."+kind+".json"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// newStore returns the URL of a new store, and a function for its contents.
func newStore(t *testing.T, kind string) (url string, snapshot func() map[string][]byte) {
	t.Helper()
	if kind == "redis" {
		server := redistest.Start(t)
		return server.URL, func() map[string][]byte {
			all := map[string][]byte{}
			for _, key := range server.Client().Keys(t.Context(), "secateur:v1:[ro]:*").Val() {
				all[key] = []byte(server.Client().Get(t.Context(), key).Val())
			}
			return all
		}
	}
	dir := t.TempDir()
	return "file:" + dir, func() map[string][]byte {
		all := map[string][]byte{}
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			all[name], err = os.ReadFile(path)
			return err
		}); err != nil {
			t.Error(err)
		}
		return all
	}
}

// restore fills a store and returns its URL.
func restore(t *testing.T, kind string, store map[string][]byte) string {
	t.Helper()
	if kind == "redis" {
		server := redistest.Start(t)
		for key, value := range store {
			if err := server.Client().Set(t.Context(), key, value, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		return server.URL
	}
	dir := t.TempDir()
	for name, content := range store {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "file:" + dir
}
