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

const canary = "canary-token-of-16"

// worldOf has a configuration file and an environment with a token in it.
func worldOf(t *testing.T, toml string) (w world, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "c.toml")
	if err := os.WriteFile(file, []byte("auth_token = \"${T}\"\n"+toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return world{out: t.Output(), err: t.Output(), environ: []string{"T=" + canary}, home: dir, userDir: dir, cacheDir: dir}, file
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
	want := []string{"Bearer " + canary}
	if !slices.Equal(main.sent, want) || !slices.Equal(alone.sent, want) {
		t.Errorf("the listeners were sent %q and %q, want the token once each", main.sent, alone.sent)
	}
}

// Any user of the machine can wait at a port that is well known, and anyone at an address of another machine.
func TestRecoverGivesItsTokenToNobodyElse(t *testing.T) {
	for _, c := range []struct {
		rule, toml string
		want       [][2]string // addresses and tokens
	}{
		{
			"the pruner's port, which nobody has configured, gets none", `listen = "127.0.0.1:8000"`,
			[][2]string{{"http://127.0.0.1:8000", canary}, {"http://127.0.0.1:8006", ""}},
		},
		{
			"an address of another machine is not asked", `listen = "192.0.2.1:80"`,
			[][2]string{{"http://127.0.0.1:8006", ""}},
		},
		{
			"a listener on every address is called by loopback", `listen = "0.0.0.0:80"`,
			[][2]string{{"http://127.0.0.1:80", canary}, {"http://127.0.0.1:8006", ""}},
		},
	} {
		w, file := worldOf(t, c.toml+"\n")
		cfg, err := w.usable(file, "", usersOwn)
		if err != nil {
			t.Fatal(err)
		}
		var got [][2]string
		for _, d := range w.daemons(t.Context(), cfg) {
			got = append(got, [2]string{d.base, d.token})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: daemons = %v, want %v", c.rule, got, c.want)
		}
	}
}

// With --url or SECATEUR_URL a command may talk to any host. The configuration's token is for its own listener; others get SECATEUR_TOKEN.
func TestTheConfigurationsTokenStaysAtItsListener(t *testing.T) {
	const given = "token-of-the-environment"
	for _, c := range []struct{ rule, listen, address, want string }{
		{"its own listener", "127.0.0.1:8000", "http://127.0.0.1:8000", canary},
		{"a final slash", "127.0.0.1:8000", "http://127.0.0.1:8000/", canary},
		{"by its other name", "127.0.0.1:8000", "http://LocalHost:8000", canary},
		{"by its address", "localhost:8000", "http://127.0.0.1:8000", canary},
		{"the port of the scheme", "127.0.0.1:80", "http://127.0.0.1", canary},
		{"every address", "0.0.0.0:8000", "http://localhost:8000", canary},
		{"another host", "127.0.0.1:8000", "http://192.0.2.1:8000", ""},
		{"another port", "127.0.0.1:8000", "http://127.0.0.1:8001", ""},
		{"another scheme", "127.0.0.1:8000", "https://127.0.0.1:8000", ""},
		{"another loopback address, maybe another user's", "127.0.0.1:8000", "http://127.0.0.2:8000", ""},
		{"a name that a resolver may lead anywhere", "127.0.0.1:8000", "http://evil.localhost:8000", ""},
		{"a user before the host", "127.0.0.1:8000", "http://127.0.0.1:8000@192.0.2.1:8000", ""},
		{"a listener of another machine", "192.0.2.1:8000", "http://192.0.2.1:8000", ""},
	} {
		w, file := worldOf(t, "listen = \""+c.listen+"\"\n")
		for _, environ := range [][]string{nil, {"SECATEUR_TOKEN=" + given}} {
			w.environ = append([]string{"T=" + canary}, environ...)
			want := c.want
			if environ != nil {
				want = given
			}
			for _, flags := range []daemonFlags{{url: c.address, file: file}, {file: file}} {
				if flags.url == "" {
					w.environ = append(w.environ, "SECATEUR_URL="+c.address)
				}
				found, err := w.candidates(t.Context(), flags)
				if err != nil || len(found) != 1 || found[0].token != want {
					t.Errorf("%s: %+v, %v; want one program that is shown %q", c.rule, found, err, want)
				}
			}
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := w.daemonsAt(t.Context(), cfg, c.address); err != nil || len(got) != 1 || got[0].token != want {
				t.Errorf("recover: %s: %v, %v; want one program that is shown %q", c.rule, got, err, want)
			}
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
	sources, done, err := w.sources(t.Context(), cfg, []*controlClient{
		{base: m.URL, token: canary, http: newClient(nil, nil)}, {base: a.URL, http: newClient(nil, nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, fetch := range sources {
		_, _ = fetch(t.Context(), "prn_00000000000000000000000000")
	}
	if !slices.Equal(trusted.sent, []string{"Bearer " + canary}) || !slices.Equal(stranger.sent, []string{""}) {
		t.Errorf("the listener was sent %q and the stranger %q, want the token and none", trusted.sent, stranger.sent)
	}
}
