package test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/store/redisdb/redistest"
)

// The containers' configuration can be read by this program.
func TestDeployedConfigurationLoads(t *testing.T) {
	text, err := os.ReadFile("../deploy/secateur.toml")
	if err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile("../deploy/helm/secateur/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, chart, _ := strings.Cut(string(values), "config: |\n")
	chart, _, _ = strings.Cut(chart, "\nservice:")
	for name, text := range map[string]string{"secateur.toml": string(text), "values.yaml": chart} {
		_, mistakes := config.Load(name, []byte(text), config.Options{Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"AUTH_TOKEN": strings.Repeat("x", 20), "REDIS_URL": "redis://valkey:6379/0"}[name]
			return v, ok
		}})
		for _, m := range mistakes {
			t.Error(m)
		}
	}
}

func TestTheUnitIsWhatSystemdReads(t *testing.T) {
	need(t, "systemd-analyze")
	unit, err := os.ReadFile("../deploy/systemd/secateur.service")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "secateur.service")
	// It is not installed here.
	text := strings.ReplaceAll(string(unit), "/usr/local/bin/secateur", "/bin/true")
	text = strings.Replace(text, "Documentation=man:secateur(1)\n", "", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", file).CombinedOutput(); err != nil || strings.Contains(string(out), "secateur.service") {
		t.Errorf("%v: %s", err, out)
	}
}

// balancer runs nginx with the shipped configuration in front of replicas, and returns a client
// that reaches only it: nginx listens on a private socket.
func balancer(t *testing.T, all []*program) *http.Client {
	t.Helper()
	need(t, "nginx")
	conf, err := os.ReadFile("../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nginx") //nolint:usetesting // t.TempDir is too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	text := strings.Replace(string(conf), "listen 8000;", "listen unix:"+socket+";", 1)
	for i, p := range all {
		text = strings.Replace(text, fmt.Sprintf("secateur%d:8000", i+1), strings.TrimPrefix(p.url, "http://"), 1)
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text = strings.Replace(text, "http {\n", fmt.Sprintf("http {\n    %s_temp_path %s;\n", kind, filepath.Join(dir, kind)), 1)
	}
	text = "daemon off;\npid " + filepath.Join(dir, "pid") + ";\nerror_log stderr;\n" + strings.Replace(text, "http {\n", "http {\n    access_log off;\n", 1)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nginx", "-c", file, "-e", "stderr")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
		if t.Failed() {
			t.Log(said.String())
		}
	})
	eventually(t, time.Minute, "nginx listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

var sessionID = regexp.MustCompile(`(?i)Mcp-Session-Id: (\S+)`)

// A legacy session lives on one replica behind the load balancer. When that replica goes, its
// client gets a 404 and opens another session; others are not affected.
func TestSessionsBehindTheLoadBalancer(t *testing.T) {
	all := replicas(t, 3, redistest.Start(t).URL)
	client := balancer(t, all)
	say := func(who, session, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", "Bearer "+who)
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, fmt.Sprintf("Mcp-Session-Id: %s\n%s", res.Header.Get("Mcp-Session-Id"), text)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	sessions := map[string]string{}
	// Which replica a caller reaches depends on their ports here, so callers come until every
	// replica has one.
	for i := 0; slices.ContainsFunc(all, func(p *program) bool { return sessionsAt(t, p) == 0 }); i++ {
		if i == 1000 {
			t.Fatal("of a thousand callers none has come to one of the replicas")
		}
		who := fmt.Sprint("agent-", i)
		status, text := say(who, "", hello)
		id := sessionID.FindStringSubmatch(text)
		if status != http.StatusOK || id == nil {
			t.Fatalf("initialize: %d %s", status, text)
		}
		sessions[who] = id[1]
	}
	for who, id := range sessions {
		for range 3 {
			if status, text := say(who, id, list); status != http.StatusOK || !strings.Contains(text, "read_log") {
				t.Fatalf("%s: %d %.300s", who, status, text)
			}
		}
	}
	if err := all[0].stop(); err != nil {
		t.Fatal(err)
	}
	moved := 0
	for who, id := range sessions {
		switch status, text := say(who, id, list); status {
		case http.StatusOK:
		case http.StatusNotFound:
			moved++
			if status, text := say(who, "", hello); status != http.StatusOK {
				t.Errorf("%s cannot open another session: %d %s", who, status, text)
			}
		default:
			t.Errorf("%s: %d %.300s", who, status, text)
		}
	}
	if moved == 0 || moved == len(sessions) {
		t.Errorf("%d of %d sessions were on the replica that went", moved, len(sessions))
	}
}

// sessionsAt returns the current sessions of one replica. Its status shows the others with some
// seconds of delay.
func sessionsAt(t *testing.T, p *program) int {
	t.Helper()
	var status struct {
		Sessions *int `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(p.get(t, "/api/v1/status")), &status); err != nil || status.Sessions == nil {
		t.Fatalf("the status tells no sessions: %v", err)
	}
	return *status.Sessions
}
