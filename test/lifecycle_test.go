package test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-goOn
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"late"}`)
	}))
	defer backend.Close()
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"slow\"\nurl = %q\ntransport = \"rpc\"\n", backend.URL))
	answered := make(chan answer, 1)
	go func() { answered <- p.rpc(t, "slow", `{"jsonrpc":"2.0","id":1,"method":"x"}`) }()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- p.stop() }()
	for !p.refusesNewConnections() {
	}
	close(goOn)
	if a := <-answered; a.status != 200 || !strings.Contains(a.body, "late") {
		t.Errorf("the call in flight got %d %s", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// refusesNewConnections reports whether the listener is closed.
func (p *program) refusesNewConnections() bool {
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := (&http.Client{Transport: transport}).Get(p.url + "/healthz")
	if err != nil {
		return true
	}
	_ = res.Body.Close()
	return false
}

func TestNoDescendantOutlivesItsServer(t *testing.T) {
	need(t, "sh")
	dir := t.TempDir()
	// A server that leaves children behind: one in its group, one in its own session.
	script := filepath.Join(dir, "server.sh")
	err := os.WriteFile(script, []byte(`sleep 300 &
setsid sleep 300 &
while read -r line; do
  case $line in
  *'"initialize"'*) echo 'noise on standard output'; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}';;
  *'"crash"'*) kill -9 $$;;
  esac
done
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("sh%d", os.Getpid()) // unique among all tests' servers
	p := start(t, fmt.Sprintf("[[servers]]\nid = %q\ncommand = [\"sh\", %q]\n", id, script))
	if a := p.rpc(t, id, `{"jsonrpc":"2.0","id":5,"method":"ping"}`); !strings.Contains(a.body, `"result":{}`) {
		t.Fatalf("ping: %s", a.body)
	}
	if a := p.rpc(t, id, `{"jsonrpc":"2.0","id":6,"method":"crash"}`); !strings.Contains(a.body, `"upstream_unavailable"`) {
		t.Errorf("a call to a server that crashes: %s", a.body)
	}
	// It is restarted for the next call, and nothing of its first life is left.
	if a := p.rpc(t, id, `{"jsonrpc":"2.0","id":7,"method":"ping"}`); !strings.Contains(a.body, `"result":{}`) {
		t.Fatalf("ping after the crash: %s", a.body)
	}
	eventually(t, time.Minute, "itself and the 2 children of its second life are alive", func() bool { return family(t, id) == 3 })
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if n := family(t, id); n != 0 {
		t.Errorf("%d processes outlive their server", n)
	}
}

// family counts the processes of the script's server and what it left behind, anywhere in the tree:
// the server's environment names it, and its children inherit that.
func family(t *testing.T, id string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), "SECATEUR_SERVER="+id+".") {
			n++
		}
	}
	return n
}

func TestEveryAnswerReachesItsCaller(t *testing.T) {
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"everything\"\ncommand = %s\n", toml(npmServer(t, "server-everything"))))
	const clients, calls = 50, 10
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for n := range calls { // every client uses the same ids
				word := fmt.Sprintf("client %d call %d", c, n)
				a := p.rpc(t, "everything", call(n, "echo", fmt.Sprintf(`{"message":%q}`, word)))
				if got := a.read(t); got.ID != n || len(got.Result.Content) != 1 || got.Result.Content[0].Text != "Echo: "+word {
					t.Errorf("%s got %s", word, a.body)
				}
			}
		})
	}
	all.Wait()
}

// Answers of all sizes arrive whole under load.
func TestNoAnswerIsCutShort(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"result":[` + strings.Repeat(`"`+strings.Repeat("x", 990)+`",`, 100) + `0]}`
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body) // without reading the request first
	}))
	defer backend.Close()
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\ntransport = \"rpc\"\n", backend.URL))
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 20 {
				if a := p.rpc(t, "s", `{"jsonrpc":"2.0","id":1,"method":"x"}`); a.body != body {
					t.Errorf("an answer of %d bytes, want %d: %.100s", len(a.body), len(body), a.body)
				}
			}
		})
	}
	all.Wait()
}
