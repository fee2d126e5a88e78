package test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// daemon is secateur running in its own process.
type daemon struct {
	*program
	cmd *exec.Cmd
}

// startDaemon runs `secateur serve`. The process is killed at the test's end unless the test has
// ended it.
func startDaemon(t *testing.T, config string, environ ...string) *daemon {
	t.Helper()
	return startDaemonWith(t, func(cmd *exec.Cmd) { cmd.Env = append(os.Environ(), environ...) }, config)
}

// startDaemonWith is startDaemon with a changed command.
func startDaemonWith(t *testing.T, change func(*exec.Cmd), config string) *daemon {
	t.Helper()
	cmd := exec.Command(secateur(t), "serve", "--listen", "127.0.0.1:0", "--config", configFile(t, patient(config)))
	cmd.Stderr = t.Output()
	change(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// See startIn.
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}
	d := &daemon{&program{http: &http.Client{Transport: transport}}, cmd}
	ended := make(chan struct{})
	d.stop = sync.OnceValue(func() error { transport.CloseIdleConnections(); <-ended; return cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = d.stop() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "listens on "); ok {
			d.url, _, _ = strings.Cut(rest, " ")
			go func() { // keeps the pipe from filling up
				defer close(ended)
				for lines.Scan() {
				}
			}()
			return d
		}
	}
	close(ended)
	t.Fatal("secateur ended before it listened")
	return nil
}

// holdings are the resources of a process.
type holdings struct{ goroutines, descriptors, children, heap int }

func (d *daemon) holds(t *testing.T) (h holdings) {
	t.Helper()
	pid := d.cmd.Process.Pid
	h.children = len(children(pid))
	res, err := d.http.Get(d.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "go_goroutines":
			h.goroutines = int(number)
		case "go_memstats_heap_inuse_bytes":
			h.heap = int(number)
		case "process_open_fds":
			h.descriptors = int(number)
		}
	}
	return h
}

// sessionsLeave is how many bytes the heap may grow in four thousand sessions: a quarter of a kilobyte
// each would be a leak.
const sessionsLeave = 1 << 20

// Thousands of sessions leave no goroutine, no descriptor, no process, no memory.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	// So that the heap is mostly live.
	d := startDaemon(t, "log_level = \"WARN\"\n"+peerConfig(t, "a", "plain"), "GOGC=10")
	d.sessions(t, 500)
	before := d.settled(t, holdings{})
	d.sessions(t, 4_000)
	after := d.settled(t, before)
	t.Logf("before %+v, after %+v", before, after)
	if after.goroutines > before.goroutines+5 || after.descriptors > before.descriptors+5 || after.children != before.children {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if grown := after.heap - before.heap; grown > sessionsLeave {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

// settled waits for a while until no more is held than before, and returns the smallest heap it has
// seen.
func (d *daemon) settled(t *testing.T, before holdings) (now holdings) {
	t.Helper()
	d.http.CloseIdleConnections()
	least := math.MaxInt
	looks := 600
	if before == (holdings{}) {
		looks = 100 // only a few collections to wait for
	}
	for range looks {
		now = d.holds(t)
		least = min(least, now.heap) // the live heap: between two collections there is also garbage
		now.heap = least
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.heap <= before.heap+sessionsLeave {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return now
}

// sessions opens and closes many, some of which make calls, listen, or hang up in the middle.
func (d *daemon) sessions(t *testing.T, n int) {
	t.Helper()
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for i := range numbers {
				d.session(t, i)
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}

func (d *daemon) session(t *testing.T, i int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	do := func(client *http.Client, verb, session, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, verb, d.url+"/mcp", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		return client.Do(req)
	}
	drained := func(verb, session, body string) (id string) {
		res, err := do(d.http, verb, session, body)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= 300 {
			t.Errorf("%s: %s %v %.200s", verb, res.Status, err, text)
		}
		return res.Header.Get("Mcp-Session-Id")
	}
	session := drained(http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}`)
	if session == "" {
		t.Error("no session")
		return
	}
	drained(http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if i%4 == 0 {
		drained(http.MethodPost, session, call(2, "a::echo", `{"nonce":"x"}`))
	}
	if i%8 == 0 { // a stream that ends with the session
		res, err := do(d.http, http.MethodGet, session, "")
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
	}
	if i%16 == 0 { // a call that is still running when the session ends
		// On a separate connection: on a shared one net/http may let a cancelled request end the
		// next one.
		alone := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		var running sync.WaitGroup
		running.Go(func() {
			if res, err := do(alone, http.MethodPost, session, call(3, "a::hang", `{}`)); err == nil {
				_ = res.Body.Close()
			}
		})
		defer running.Wait()
		defer cancel()
	}
	drained(http.MethodDelete, session, "")
}

// marked counts the processes with a mark in their environment, anywhere in the tree.
func marked(t *testing.T, mark string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), mark) {
			n++
		}
	}
	return n
}

// However secateur ends, its servers end with it.
func TestNoServerOutlivesSecateur(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		signal syscall.Signal
	}{
		{"asked to stop", syscall.SIGTERM},
		{"interrupted", syscall.SIGINT},
		{"killed", syscall.SIGKILL},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			mark := fmt.Sprintf("SECATEUR_TEST_MARK=%d.%s", os.Getpid(), tc.signal)
			const grace = "shutdown_grace = 0.2"
			d := startDaemon(t, withMark(peerConfig(t, "a", "stubborn", grace)+peerConfig(t, "b", "stubborn", grace), mark))
			c := httpClient(t, d.program, "/mcp", "2025-11-25")
			c.open()
			c.tool("a::echo", `{"nonce":"x"}`)
			c.tool("b::echo", `{"nonce":"x"}`)
			want := 2
			if tc.signal != syscall.SIGKILL { // a killed process cannot look after grandchildren
				c.tool("a::spawn", `{}`)
				want = 4
			}
			// A process that is just executing another program has no environment for a moment.
			eventually(t, time.Minute, "all processes of the servers are there", func() bool { return marked(t, mark) == want })
			if err := d.cmd.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			_ = d.stop()
			eventually(t, 30*time.Second, "no process of a server is left", func() bool { return marked(t, mark) == 0 })
			c.mu.Lock()
			c.session = "" // no server is left to end it
			c.mu.Unlock()
		})
	}
}

func TestNoServerOutlivesAStdioClient(t *testing.T) {
	servers, _ := threeServers(t)
	npm, err := filepath.Abs("npm")
	if err != nil {
		t.Fatal(err)
	}
	need(t, "npx")
	wrapped := fmt.Sprintf("[[servers]]\nid = \"everything\"\ncwd = %q\ncommand = [\"npx\", \"@modelcontextprotocol/server-everything\"]\n", npm)
	closes := func(c *client, _ *exec.Cmd) { c.close() }
	terminates := func(_ *client, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }
	kills := func(_ *client, cmd *exec.Cmd) { _ = cmd.Process.Kill() }
	for _, tc := range []struct {
		rule, config string
		end          func(c *client, cmd *exec.Cmd)
	}{
		{"the client closes the pipe", servers, closes},
		{"the client sends SIGTERM", servers, terminates},
		{"the client kills it", servers, kills},
		{"npx in between, the client closes the pipe", wrapped, closes},
		{"npx in between, the client kills it", wrapped, kills},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			mark := fmt.Sprintf("SECATEUR_TEST_MARK=%d.%s", os.Getpid(), strings.ReplaceAll(tc.rule, " ", "-"))
			c, cmd := stdioClient(t, "2025-11-25", configFile(t, patient(withMark(tc.config, mark))))
			c.open()
			if list := c.result("tools/list", ""); !strings.Contains(list, `"everything::echo"`) {
				t.Fatalf("tools/list: %.300s", list)
			}
			eventually(t, time.Minute, "all servers run", func() bool { return marked(t, mark) >= strings.Count(tc.config, "[[servers]]") })
			tc.end(c, cmd)
			eventually(t, 30*time.Second, "no process of a server is left", func() bool { return marked(t, mark) == 0 })
		})
	}
}
