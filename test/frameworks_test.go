package test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Agent frameworks and bridges from npm, unaware of secateur, each as the first client of a daemon:
// one whose servers are still starting, and one whose servers are ready. They get names that
// models' APIs accept, and answers.
func TestFrameworks(t *testing.T) {
	config := fastServer(t)
	remote := npmFile(t, "mcp-remote", "dist", "proxy.js")
	gateway := npmFile(t, "supergateway", "dist", "index.js")
	node := newNode(t)
	through := func(command ...string) func(url string) []string {
		return func(url string) []string {
			url += "?separator=__"
			arguments := []string{"sdk", node}
			for _, word := range command {
				arguments = append(arguments, strings.ReplaceAll(word, "URL", url))
			}
			return arguments
		}
	}
	own := func(framework string) func(url string) []string {
		return func(url string) []string { return []string{framework, url} }
	}
	for _, c := range []struct {
		name      string
		arguments func(url string) []string
		echo      string
	}{
		{"AI SDK", own("ai-sdk"), "fast-echo"},
		{"LangChain", own("langchain"), "fast-echo"},
		{"OpenAI Agents", own("openai-agents"), "fast-echo"},
		{"mcp-remote", through(remote, "URL", "--silent"), "fast__echo"},
		{"mcp-remote over HTTP+SSE", through(remote, "URL", "--transport", "sse-only", "--silent"), "fast__echo"},
		{"supergateway", through(gateway, "--streamableHttp", "URL", "--logLevel", "none"), "fast__echo"},
		{"supergateway over HTTP+SSE", through(gateway, "--sse", "URL", "--logLevel", "none"), "fast__echo"},
	} {
		for _, state := range []string{"cold", "warm"} {
			t.Run(c.name+", "+state, func(t *testing.T) {
				t.Parallel()
				d := startDaemon(t, config)
				if state == "warm" {
					d.waitUntilReady(t)
				}
				useFramework(t, c.echo, c.arguments(d.url+"/mcp")...)
				if err := d.terminate(); err != nil {
					t.Errorf("secateur after SIGTERM: %v", err)
				}
			})
		}
	}
}

// supergateway puts a pipe server behind each of its doors.
func TestSupergatewayInFront(t *testing.T) {
	file := configFile(t, patient(fastServer(t)))
	gateway := npmFile(t, "supergateway", "dist", "index.js")
	for transport, door := range map[string]string{"sse": "http://ADDR/sse", "ws": "ws://ADDR/message", "streamableHttp": "http://ADDR/mcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			addr := freePort(t)
			cmd := exec.Command(newNode(t), gateway, "--stdio", secateur(t)+" stdio --separator __ --config "+file,
				"--outputTransport", transport, "--port", addr[strings.LastIndexByte(addr, ':')+1:], "--logLevel", "none")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				// With the shell that runs its servers.
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
				_ = cmd.Wait()
			})
			eventually(t, time.Minute, "supergateway listens", func() bool {
				c, err := net.Dial("tcp", addr)
				if err == nil {
					_ = c.Close()
				}
				return err == nil
			})
			useFramework(t, "fast__echo", "sdk", strings.Replace(door, "ADDR", addr, 1))
		})
	}
}

// fastServer is the configuration of a FastMCP server, which asks for roots by itself.
func fastServer(t *testing.T) string {
	t.Helper()
	npmFile(t, "fastmcp", "package.json")
	return "store.url = \"memory:\"\nfirst_list_wait = 60\n[[servers]]\nid = \"fast\"\nstartup_timeout = 60\ncommand = " +
		toml([]string{newNode(t), absolute(t, "npm/fastmcp-server.mjs")}) + "\n"
}

// useFramework lists and calls tools with npm/framework-client.mjs.
func useFramework(t *testing.T, echo string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), newNode(t), append([]string{"framework-client.mjs"}, arguments...)...)
	cmd.Dir = "npm"
	cmd.Env = append(os.Environ(), "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	want := `{"usable":true,"echo":"` + echo + `","said":"Echo: Grüße","sum":"5"}`
	if got := strings.TrimSpace(string(out)); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// waitUntilReady waits until every server has come up.
func (d *daemon) waitUntilReady(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, "the servers are ready", func() bool {
		res, err := d.http.Get(d.url + "/readyz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// terminate requests an orderly shutdown.
func (d *daemon) terminate() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.stop()
}
