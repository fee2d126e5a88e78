package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/mcp/demo"
)

// A person uses the dashboard in a real browser, on the real program with real servers;
// test/npm/dashboard.mjs plays the person. Screenshots of every page are left in test/artifacts.
func TestDashboard(t *testing.T) {
	chromium, node := need(t, "chromium"), need(t, "node")
	for _, name := range []string{"playwright-core", "axe-core"} {
		if _, err := os.Stat(filepath.Join("npm", "node_modules", name)); err != nil {
			lack(t, name+" is not installed; make test installs it")
		}
	}
	dir := t.TempDir()
	port := quietPort(t)
	freshPort := quietPort(t)
	const token = "a-token-for-the-dashboard"
	hostile, err := filepath.Abs("npm/hostile-server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	description := filepath.Join(dir, "description.txt")
	config := fmt.Sprintf(`listen = "127.0.0.1:%d"
auth_token = "${DASHBOARD_TOKEN}"

[admin]
watch = false

[admin.capture]
bytes = 4000

[store]
url = "file:%s"

[[servers]]
id = "demo"
builtin = "demo"

[[servers]]
id = "everything"
command = %s

[[servers]]
id = "hostile"
command = %s
env = { DESCRIPTION = %q } # a note that stays

[[servers]]
id = "remote"
url = "http://127.0.0.1:${PROVIDER_PORT}/mcp"

[[servers]]
id = "broken"
command = ["false"]

[context_pruning]
enabled = true

[providers.p]
format = "chat"
base_url = "http://127.0.0.1:${PROVIDER_PORT}"
api_key = "${PROVIDER_KEY}"
prices = { input = 1.0, cached_input = 0.1, cache_write = 1.0, output = 4.0, cache_ttl_s = 300 }

[models."<img src=x onerror=\"window.hurt=1\">"]
provider = "p"

[[auth.tokens]]
name = "ci"
hash = "sha256:%064d"
roles = ["dev"]

[[acl]]
name = "no-source"
role = "dev"
tool = "read_source"
action = "deny"

[[limits]]
name = "calls"
by = ["principal", "tool"]
rate = "1000/d"
`, port, filepath.Join(dir, "store"), toml(npmServer(t, "server-everything")), toml([]string{node, hostile}), description, 0)
	file := filepath.Join(dir, "secateur.toml")
	log := filepath.Join(dir, "build.log")
	fresh := filepath.Join(dir, "fresh.toml")
	empty := fmt.Sprintf("listen = \"127.0.0.1:%d\"\n[mcp_pruner]\nenabled = false\n[store]\nurl = \"memory:\"\n", freshPort)
	for path, text := range map[string]string{file: config, log: demo.Log(), description: "reads a file", fresh: empty} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shots, err := filepath.Abs("artifacts")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := json.Marshal(map[string]any{
		"binary": secateur(t), "config": file, "fresh": fresh, "freshPort": freshPort, "description": description, "port": port, "token": token, "log": log, "shots": shots, "chromium": chromium,
		"env": map[string]string{
			"DASHBOARD_TOKEN": token, "PROVIDER_KEY": "k", "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CACHE_HOME": filepath.Join(dir, "cache"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "dashboard.mjs")
	cmd.Dir = "npm"
	cmd.Env = append(os.Environ(), "PLAN="+string(plan))
	// Together with the browser and the program.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the rest, if it ended early
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "first load") || strings.HasPrefix(line, "interactive") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// quietPort returns a free port outside the range for clients, so that it stays free while the
// program restarts.
func quietPort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
