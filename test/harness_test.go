package test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/mcp/confine"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == confine.Word {
		os.Exit(confine.Main(os.Args[2:]))
	}
	if script := os.Getenv(peerScript); script != "" {
		playPeer(script)
		return
	}
	if proxy := os.Getenv(peerProxy); proxy != "" {
		playProxy(proxy)
		return
	}
	dir, err := os.MkdirTemp("", "secateur-test-")
	if err != nil {
		panic(err)
	}
	builds.dir = dir
	otherHalf = startSecondHalf(dir)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		code = otherHalf.wait(code)
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// program is a running secateur.
type program struct {
	url  string
	http *http.Client
	stop func() error // finishes the requests in flight; may be called again at the test's end
}

// start runs the program with a configuration, on a free port. At the test's end it is stopped, and
// none of its child processes may be left.
func start(t *testing.T, toml string) *program {
	t.Helper()
	cfg, mistakes := config.Load("test.toml", []byte("listen = \"127.0.0.1:0\"\n"+patient(toml)), config.Options{Lookup: os.LookupEnv})
	for _, m := range mistakes {
		t.Fatal(m)
	}
	return startConfig(t, cfg)
}

// patient gives servers and the store enough time for a busy machine, unless the test sets its own
// limits.
func patient(toml string) string {
	if !strings.Contains(toml, "first_list_wait") {
		toml = "first_list_wait = 30\n" + toml
	}
	if !strings.Contains(toml, "store") {
		toml = "store.put_timeout_ms = 30000\n" + toml
	}
	return toml
}

func startConfig(tb testing.TB, cfg *config.Config) *program {
	tb.Helper()
	return startIn(tb, cfg, "")
}

// startIn starts the program with a state directory and further changes.
func startIn(tb testing.TB, cfg *config.Config, state string, change ...func(*app.Options)) *program {
	tb.Helper()
	before := descendants()
	listening := make(chan net.Addr, 1)
	opt := app.Options{
		Config: cfg, Version: "test", Environ: os.Environ(), StateDir: state,
		Log:       slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: cfg.Level()})),
		Listening: func(addr net.Addr) { listening <- addr },
	}
	for _, c := range change {
		c(&opt)
	}
	a, err := app.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	// The program closes a connection without a request after ten seconds; close unused ones
	// earlier.
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second}
	p := &program{http: &http.Client{Transport: transport}}
	var stopped bool
	var result error
	p.stop = func() error {
		if !stopped {
			// One that never carried a request would delay the end for seconds.
			transport.CloseIdleConnections()
			cancel()
			result, stopped = <-ended, true
			transport.CloseIdleConnections()
		}
		return result
	}
	tb.Cleanup(func() {
		if err := p.stop(); err != nil {
			tb.Errorf("Run: %v", err)
		}
		for _, left := range descendants() {
			if !slices.Contains(before, left) {
				tb.Errorf("a process is left: %s", left)
			}
		}
	})
	select {
	case addr := <-listening:
		p.url = "http://" + addr.String()
	case err := <-ended:
		stopped, result = true, nil
		tb.Fatalf("Run: %v", err)
	}
	return p
}

// answer is an HTTP response.
type answer struct {
	status int
	header http.Header
	body   string
}

// rpc posts a body to a server through the gateway.
func (p *program) rpc(t *testing.T, server, body string) answer {
	t.Helper()
	return p.post(t, "/api/mcp-gateway/"+server+"/rpc", body)
}

func (p *program) post(t *testing.T, path, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return p.do(t, req)
}

func (p *program) do(t *testing.T, req *http.Request) answer {
	t.Helper()
	res, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// call is the body of a tools/call.
func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// need skips on a developer's machine, and fails in CI, if a tool is missing.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		lack(t, tool+" is not installed; make test installs it")
	}
	return path
}

// npmServer is the command of an MCP server from npm.
func npmServer(t *testing.T, name string) []string {
	t.Helper()
	node := need(t, "node")
	script, err := filepath.Abs(filepath.Join("npm", "node_modules", "@modelcontextprotocol", name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		lack(t, name+" is not installed; make test installs it")
	}
	return []string{node, script}
}

func lack(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatal(reason)
	}
	tb.Skip(reason)
}

// toml quotes a command for a configuration.
func toml(command []string) string {
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = strconv.Quote(c)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// otherHalf is a child process of this one; TestMain starts it.
var otherHalf *half

// descendants lists the processes below this one that tests have started.
func descendants() []string { return children(os.Getpid()) }

func children(pid int) (found []string) {
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, file := range entries {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state ppid …: the name may contain anything, so count the fields from its end.
		end := strings.LastIndexByte(string(stat), ')')
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || otherHalf.is(child) {
			continue
		}
		found = append(found, string(stat[:end+1]))
		found = append(found, children(child)...)
	}
	return slices.Compact(found)
}

// freePort returns the address of a port that was free a moment ago and has no listener. It is
// outside the system's ephemeral range (32768 and above on Linux), so that no connection takes it
// meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000)))
		if err == nil {
			defer ln.Close()
			return ln.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
