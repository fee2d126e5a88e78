package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"secateur/internal/app"
	"secateur/internal/config"
)

// reloaded is the control plane's answer to a reload.
type reloaded struct {
	Changed       bool     `json:"changed"`
	Added         []string `json:"added"`
	Removed       []string `json:"removed"`
	Restarted     []string `json:"restarted"`
	Unchanged     []string `json:"unchanged"`
	RestartNeeded []string `json:"restart_needed"`
}

// reload replaces the configuration file in one step, and applies it.
func (p *program) reload(t *testing.T, file, text string) (r reloaded) {
	t.Helper()
	replaceFile(t, file, text)
	a := p.post(t, "/api/v1/reload", "")
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || a.status != http.StatusOK {
		t.Fatalf("reload: %d %s (%v)", a.status, a.body, err)
	}
	return r
}

func replaceFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// A hundred reloads add, change and remove servers while clients of both eras call through every
// door. No call fails, and the unchanged server keeps its process.
func TestAHundredReloadsUnderLoad(t *testing.T) {
	const patience = "startup_timeout = 60\nresponse_timeout = 60\n"
	text := func(n int) string {
		all := "listen = \"127.0.0.1:0\"\n[admin]\nwatch = false\n[store]\nurl = \"memory:\"\n" + peerConfig(t, "keep", "plain", patience) +
			peerConfig(t, "change", "plain", patience, fmt.Sprintf("env.GENERATION = \"%d\"", n/10))
		if n%2 == 1 {
			all += "[[servers]]\nid = \"extra\"\nbuiltin = \"demo\"\n"
		}
		if n%20 >= 10 {
			all += peerConfig(t, "process", "plain", patience)
		}
		return all
	}
	file := configFile(t, text(0))
	load := func() (*config.Config, []config.Problem) {
		return config.LoadFile(file, config.Options{Lookup: os.LookupEnv})
	}
	cfg, mistakes := load()
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := startIn(t, cfg, t.TempDir(), func(o *app.Options) { o.Load = load })
	legacy, one, young := httpClient(t, p, "/mcp", "2025-11-25"), httpClient(t, p, "/mcp/keep", "2025-06-18"), httpClient(t, p, "/mcp", modern)
	for _, c := range []*client{legacy, one, young} {
		c.open()
	}
	legacy.listen(p, "/mcp")
	legacy.result("tools/list", "")
	pid := legacy.tool("keep::pid", "{}")

	var work sync.WaitGroup
	var calls [4]int
	stop := make(chan struct{})
	caller := func(i int, call func(nonce string) string) {
		work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				nonce := fmt.Sprintf("%d-%d", i, n)
				if got := call(nonce); got != nonce {
					t.Errorf("a call came to %q, want %q", got, nonce)
					return
				}
				calls[i]++
			}
		})
	}
	echo := func(c *client, server string) func(string) string {
		return func(nonce string) string {
			m := c.call("tools/call", fmt.Sprintf(`{"name":"%secho","arguments":{"nonce":%q,"delay_ms":10}}`, server, nonce))
			if m.Error != nil || m.Result == nil {
				return m.raw
			}
			return firstText(t, string(m.Result))
		}
	}
	caller(0, echo(legacy, "keep::"))
	caller(1, echo(one, ""))
	caller(2, echo(young, "change::"))
	caller(3, func(nonce string) string {
		a := p.rpc(t, "change", call(1, "echo", fmt.Sprintf(`{"nonce":%q}`, nonce)))
		_, rest, _ := strings.Cut(a.body, `"text":"`)
		got, _, ok := strings.Cut(rest, `"`)
		if !ok {
			return a.body
		}
		return got
	})
	for n := 1; n <= 100; n++ {
		r := p.reload(t, file, text(n))
		if !r.Changed || !slices.Contains(r.Unchanged, "keep") || len(r.RestartNeeded) > 0 {
			t.Fatalf("reload %d: %+v", n, r)
		}
		if want := n%10 == 0; slices.Contains(r.Restarted, "change") != want {
			t.Fatalf("reload %d: %+v, change restarted: want %t", n, r, want)
		}
	}
	close(stop)
	work.Wait()
	t.Logf("calls: %v", calls)
	if slices.Contains(calls[:], 0) {
		t.Errorf("calls: %v, want some of each", calls)
	}
	if got := legacy.tool("keep::pid", "{}"); got != pid {
		t.Errorf("the server that never changed has pid %s, want %s", got, pid)
	}
	eventually(t, 30*time.Second, "a client is told that the tools have changed", func() bool {
		return len(legacy.notices("notifications/tools/list_changed")) > 0
	})
	// Replaced servers have ended: keep, and the newest of change, are left.
	eventually(t, 30*time.Second, "two processes are left", func() bool { return len(descendants()) == 2 })
	if number, err := strconv.Atoi(pid); err != nil || syscall.Kill(number, 0) != nil {
		t.Errorf("%s is not among them", pid)
	}
}

// A change of the file is noticed however it is written; SIGHUP does the same if watching is off;
// an invalid file changes nothing.
func TestReloadOfARunningDaemon(t *testing.T) {
	const one, two = "[[servers]]\nid = \"one\"\nbuiltin = \"demo\"\n", "[[servers]]\nid = \"two\"\nbuiltin = \"demo\"\n"
	var file string
	d := startDaemonWith(t, func(cmd *exec.Cmd) {
		file = cmd.Args[len(cmd.Args)-1]
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	}, one)
	has := func(ids ...string) func() bool {
		return func() bool {
			a := d.get(t, "/api/v1/servers")
			for _, id := range []string{"one", "two"} {
				if strings.Contains(a, `"id":"`+id+`"`) != slices.Contains(ids, id) {
					return false
				}
			}
			return true
		}
	}
	eventually(t, 30*time.Second, "one is there", has("one"))
	if err := os.WriteFile(file, []byte(one+two), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "a file written in place is seen", has("one", "two"))
	replaceFile(t, file, two)
	eventually(t, 30*time.Second, "a file renamed onto it is seen", has("two"))
	replaceFile(t, file, two+"comand = 1\n")
	eventually(t, 30*time.Second, "the mistake is counted", func() bool {
		return strings.Contains(d.get(t, "/metrics"), `secateur_reloads_total{outcome="invalid"} 1`)
	})
	if !has("two")() {
		t.Error("an invalid file has changed something")
	}
	replaceFile(t, file, one+"[admin]\nwatch = false\n")
	eventually(t, 30*time.Second, "the last change that is watched for", has("one"))
	replaceFile(t, file, one+two+"[admin]\nwatch = false\n")
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, "SIGHUP reloads", has("one", "two"))
	out, err := exec.Command(secateur(t), "reload", "--dry-run", "--json", "--url", d.url).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(`"changed":false`)) {
		t.Errorf("secateur reload --dry-run: %v: %s", err, out)
	}
}

// get requests a page of the program.
func (p *program) get(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.do(t, req).body
}
