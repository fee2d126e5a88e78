package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// listener answers at an address and remembers what Authorization it was sent.
type listener struct {
	mu   sync.Mutex
	sent []string
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, r.Header.Get("Authorization"))
	w.WriteHeader(http.StatusTeapot)
}

// worldOf has a configuration file and an environment with a token in it.
func worldOf(t *testing.T, toml string) (w world, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "c.toml")
	if err := os.WriteFile(file, []byte("auth_token = \"${T}\"\n"+toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return world{out: t.Output(), err: t.Output(), environ: []string{"T=canary-token-of-16"}, home: dir, userDir: dir, cacheDir: dir}, file
}

func TestRecoverGivesItsTokenToItsListener(t *testing.T) {
	var main, alone listener
	m, a := httptest.NewServer(&main), httptest.NewServer(&alone)
	defer m.Close()
	defer a.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(a.URL, "http://"))
	w, file := worldOf(t, "listen = \""+strings.TrimPrefix(m.URL, "http://")+"\"\n[mcp_pruner]\nport = "+port+"\n")
	if code := run(t.Context(), []string{"recover", "--config", file, "prn_00000000000000000000000000"}, w); code == 0 {
		t.Error("recover of an unknown id exits 0")
	}
	want := []string{"Bearer canary-token-of-16"}
	if !slices.Equal(main.sent, want) || !slices.Equal(alone.sent, want) {
		t.Errorf("the listeners were sent %q and %q, want the token once each", main.sent, alone.sent)
	}
}

// Any user of the machine can wait at a port that is well known, and anyone at an address of another machine.
func TestRecoverGivesItsTokenToNobodyElse(t *testing.T) {
	for _, c := range []struct {
		rule, toml string
		want       []daemonAddress
	}{
		{
			"the pruner's port, which nobody has configured, gets none", `listen = "127.0.0.1:8000"`,
			[]daemonAddress{{"127.0.0.1:8000", true}, {"127.0.0.1:8006", false}},
		},
		{
			"an address of another machine is not asked", `listen = "192.0.2.1:80"`,
			[]daemonAddress{{"127.0.0.1:8006", false}},
		},
		{
			"a listener on every address is called by loopback", `listen = "0.0.0.0:80"`,
			[]daemonAddress{{"127.0.0.1:80", true}, {"127.0.0.1:8006", false}},
		},
	} {
		w, file := worldOf(t, c.toml+"\n")
		cfg, err := w.usable(file, "", usersOwn)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.daemons(t.Context(), cfg); !slices.Equal(got, c.want) {
			t.Errorf("%s: daemons = %v, want %v", c.rule, got, c.want)
		}
	}
}

func TestRecoverAsksStrangersWithoutItsToken(t *testing.T) {
	var trusted, stranger listener
	m, a := httptest.NewServer(&trusted), httptest.NewServer(&stranger)
	defer m.Close()
	defer a.Close()
	w, file := worldOf(t, "")
	cfg, err := w.usable(file, "", usersOwn)
	if err != nil {
		t.Fatal(err)
	}
	sources, done, err := w.sources(t.Context(), cfg, []daemonAddress{
		{strings.TrimPrefix(m.URL, "http://"), true}, {strings.TrimPrefix(a.URL, "http://"), false},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, fetch := range sources {
		_, _ = fetch(t.Context(), "prn_00000000000000000000000000")
	}
	if !slices.Equal(trusted.sent, []string{"Bearer canary-token-of-16"}) || !slices.Equal(stranger.sent, []string{""}) {
		t.Errorf("the listener was sent %q and the stranger %q, want the token and none", trusted.sent, stranger.sent)
	}
}
