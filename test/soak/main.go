// Command soak attacks a running secateur with limited memory (ulimit -d) and time, over loopback
// only. Meanwhile 64 clients of the aggregate work and check that every answer is theirs. The
// attacks are:
//
//   - bodies that are declared but never sent
//   - bodies that come a few bytes at a time
//   - answers that grow when encoded
//   - many large results at once
//   - conversations of very many short messages
//   - endless lines from a child process
//   - readers that do not read
//   - headers of thousands of small fields
//   - ten thousand idle connections
//
// With little memory most of the idle connections are closed to make room. With 8 GiB all of them
// stay.
//
//	go run ./test/soak -binary bin/secateur -time 30s -memory 512
//	go run ./test/soak -binary bin/secateur -time 60s -memory 8192
//
// With -replicas it runs that many behind nginx, with clients at every door. The shared
// redis-server is stopped, paused and killed meanwhile, one replica is rolled and another killed.
// Every answer must be its client's own. Only a killed replica may lose requests. A replica
// restores text that another has cut, and two replicas send the same bytes of a conversation. The
// first replica's resources, and the duration of calls, must not grow.
//
//	go run ./test/soak -binary bin/secateur -time 10m -replicas 3
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const token = "soak-token-of-more-than-16" //nolint:gosec // of a program that lives for a minute

func main() {
	binary := flag.String("binary", "bin/secateur", "the program")
	length := flag.Duration("time", 30*time.Second, "how long")
	memory := flag.Int("memory", 512, "what it may use, in `MiB`")
	resting := flag.Int("resting", 10_000, "connections that are opened, asked one thing, and left")
	endless := flag.Bool("endless", false, "be an MCP server whose answers are lines without end")
	replicas := flag.Int("replicas", 0, "run so many with one Redis instead")
	scale := flag.Bool("scale", false, "print what one, two and three replicas do, each kind of work for so long, and what a unit of it costs")
	flag.Parse()
	if *endless {
		serveEndless(os.Stdin, os.Stdout)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), *length+3*time.Minute)
	var err error
	switch {
	case *scale:
		err = runScale(ctx, *binary, *length)
	case *replicas > 0:
		err = runReplicas(ctx, *binary, *length, *replicas)
	default:
		err = run(ctx, *binary, *length, *memory, *resting)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// target is the program under attack.
type target struct {
	addr   string
	dir    string // its own
	cmd    *exec.Cmd
	client *http.Client
	ended  chan error
}

func run(ctx context.Context, binary string, length time.Duration, memory, resting int) error {
	large := `{"content":[{"type":"text","text":"` + strings.Repeat("0123456789abcde\\n", 10<<20/17) + `"}]}`
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":`+large+`}`)
	}))
	defer backend.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// For the program too, which gets the same limit.
	if err := mayOpen(resting + 1000); err != nil {
		return err
	}
	t, err := start(ctx, binary, backend.URL, self, memory)
	if err != nil {
		return err
	}
	defer t.stop()

	until, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var work sync.WaitGroup
	var answered, refused, crossed atomic.Int64
	for i := range 64 {
		work.Go(func() { t.echo(until, i, &answered, &refused, &crossed) })
	}
	rest := func(ctx context.Context) { t.rest(ctx, resting) }
	for _, attack := range []func(context.Context){t.declare, t.drip, t.encode, t.pile, t.crowd, t.lines, t.ignore, t.headers, rest} {
		work.Go(func() {
			for until.Err() == nil {
				attack(until)
			}
		})
	}
	peak, connections := t.watch(until)
	work.Wait()
	fmt.Printf("answered %d, refused for want of memory %d, crossed %d, peak memory %d MiB of %d, at most %d connections at a time\n",
		answered.Load(), refused.Load(), crossed.Load(), peak>>20, memory, connections)
	select {
	case err := <-t.ended:
		return fmt.Errorf("it ended: %w", err)
	default:
	}
	switch {
	case crossed.Load() > 0:
		return errors.New("answers reached the wrong client")
	case answered.Load() == 0:
		return errors.New("nobody was answered")
	case peak>>20 > int64(memory):
		return errors.New("it took more memory than it may")
	}
	return nil
}

// start runs the program with a store in memory.
func start(ctx context.Context, binary, backend, self string, memory int) (*target, error) {
	return startAt(ctx, binary, memory, lowPort(ctx), fmt.Sprintf("auth_token = \"${SOAK_TOKEN}\"\ndefault_provider = \"openai\"\n[store]\nurl = \"memory:\"\n[[servers]]\nid = \"large\"\ntransport = \"rpc\"\nurl = %q\n"+
		"[[servers]]\nid = \"endless\"\nprotocol = \"legacy\"\ncommand = [%q, \"-endless\"]\n"+
		"[providers.openai]\nbase_url = %q\n[providers.anthropic]\nbase_url = %q\n", backend, self, backend+"/v1", backend+"/v1"))
}

// startAt runs the program at an address under a memory limit, and waits until it is ready.
func startAt(ctx context.Context, binary string, memory int, addr, sections string) (*target, error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "c.toml")
	text := fmt.Sprintf("listen = %q\nlog_level = \"WARN\"\n", addr) + sections
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	t := &target{addr: addr, dir: dir, ended: make(chan error, 1), client: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	t.cmd = exec.CommandContext(ctx, "sh", "-c", `ulimit -d "$1"; exec "$2" serve --config "$3"`, "sh", strconv.Itoa(memory<<10), path, config)
	t.cmd.Env = append(os.Environ(), "SOAK_TOKEN="+token, "HOME="+dir, "XDG_STATE_HOME="+dir)
	t.cmd.Stderr = os.Stderr
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { t.ended <- t.cmd.Wait() }()
	for range 1200 {
		if status, _ := t.get(ctx, "/readyz"); status == http.StatusOK {
			return t, nil
		}
		if !pause(ctx, 50*time.Millisecond) {
			break
		}
	}
	t.stop()
	return nil, errors.New("it is not ready within a minute")
}

// end tells the program to stop and waits for it.
func (t *target) end() error {
	defer func() { _ = os.RemoveAll(t.dir) }()
	_ = t.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-t.ended:
		return err
	case <-time.After(time.Minute):
		_ = t.cmd.Process.Kill()
		return errors.New("it does not end")
	}
}

// stop ends the program by any means.
func (t *target) stop() { _ = t.end() }

func (t *target) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", t.addr)
}

// post sends one request; the caller reads the answer.
func (t *target) post(ctx context.Context, path, body string, headers map[string]string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return t.client.Do(req)
}

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// echo is a client of the aggregate that expects its own text back.
func (t *target) echo(ctx context.Context, client int, answered, refused, crossed *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n++ {
		nonce := fmt.Sprintf("nonce-%d-%d", client, n)
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pruner::prune_text","arguments":{"text":"` + nonce +
			`","goal_hint":"x","source_type":"docs","options":{"max_prune_ratio":0,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}},` + modern + `}}`
		res, err := t.post(ctx, "/mcp", body, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "pruner::prune_text"})
		if err != nil {
			continue
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case err != nil:
		case res.StatusCode == http.StatusServiceUnavailable:
			refused.Add(1)
			time.Sleep(50 * time.Millisecond)
		case bytes.Contains(got, []byte(nonce+`\`)) || bytes.Contains(got, []byte(nonce+`"`)):
			answered.Add(1)
		case bytes.Contains(got, []byte("nonce-")):
			crossed.Add(1)
		}
	}
}

// declare opens connections without a token that announce 32 MiB each and send almost nothing.
func (t *target) declare(ctx context.Context) {
	var open []net.Conn
	for range 150 {
		c, err := t.dial(ctx)
		if err != nil {
			break
		}
		open = append(open, c)
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 33554432\r\n\r\n{\"jsonrpc\":")
	}
	pause(ctx, 3*time.Second)
	for _, c := range open {
		_ = c.Close()
	}
}

// encode requests control characters, which are quoted twice, four times at once.
func (t *target) encode(ctx context.Context) {
	text := strings.Repeat(`\u0001`, 1_500_000)
	res, err := t.post(ctx, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":{"text":"`+text+
		`","goal_hint":"x","source_type":"docs","options":{"max_prune_ratio":0,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}}}}`, nil)
	if err != nil {
		return
	}
	got, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	at := bytes.Index(got, []byte("prn_"))
	if at < 0 {
		pause(ctx, time.Second)
		return
	}
	id := string(got[at : at+30])
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			ranges := strings.TrimSuffix(strings.Repeat(`{"start_line":1,"end_line":1},`, 20), ",")
			if res, err := t.post(ctx, "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"`+id+`","ranges":[`+ranges+`],"include_line_numbers":false}}}`, nil); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
}

// pile requests 32 results of 10 MiB at once.
func (t *target) pile(ctx context.Context) {
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if res, err := t.post(ctx, "/api/mcp-gateway/large/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, nil); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
}

// ignore requests results that it does not read.
func (t *target) ignore(ctx context.Context) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	var open []net.Conn
	for range 16 {
		c, err := t.dial(ctx)
		if err != nil {
			break
		}
		open = append(open, c)
		fmt.Fprintf(c, "POST /api/mcp-gateway/large/rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	}
	pause(ctx, 5*time.Second)
	for _, c := range open {
		_ = c.Close()
	}
}

// rest opens connections that send one trivial request, and leaves them until the program closes
// them. Half send nothing at all.
func (t *target) rest(ctx context.Context, number int) {
	open := make([]net.Conn, 0, number)
	for i := 0; i < number && ctx.Err() == nil; i++ {
		c, err := t.dial(ctx)
		if err != nil {
			continue // too busy for another one
		}
		open = append(open, c)
		if i%2 == 0 {
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		}
	}
	pause(ctx, time.Minute)
	for _, c := range open {
		_ = c.Close()
	}
}

// watch observes the program until ctx is done and returns its peak memory and peak number of
// connections.
func (t *target) watch(ctx context.Context) (peak int64, connections int) {
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.cmd.Process.Pid))
		for line := range strings.Lines(string(status)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "VmHWM:" {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				peak = max(peak, kib<<10)
			}
		}
		_, text := t.get(ctx, "/metrics")
		for line := range strings.Lines(text) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), "secateur_connections "); ok {
				open, _ := strconv.ParseFloat(value, 64)
				connections = max(connections, int(open))
			}
		}
		if !pause(ctx, 200*time.Millisecond) {
			return peak, connections
		}
	}
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
