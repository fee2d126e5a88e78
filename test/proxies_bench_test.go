package test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peerProxy is the environment variable that makes this test binary one of the proxies that ours is
// compared with. Its value is the proxy's name, a space, and the address of the server behind it.
const peerProxy = "SECATEUR_TEST_PROXY"

// process is a proxy in its own process, as in production, with its own heap and garbage collector.
type process struct {
	url  string
	pid  int
	stop func()
}

// olderProgram is the environment variable that names an older build of the program, measured
// beside this one as "before".
const olderProgram = "SECATEUR_BENCH_BEFORE"

// inMemory keeps originals in memory: calls are measured, not the disk.
const inMemory = "store.url = \"memory:\"\n"

// launchForBench runs the released program with few logs.
func launchForBench(b *testing.B, toml string) *process {
	b.Helper()
	return launchProgram(b, buildForBench(b), configForBench(b, inMemory+toml))
}

// launchBefore runs the older program; nil: none.
func launchBefore(b *testing.B, toml string) *process {
	b.Helper()
	binary := os.Getenv(olderProgram)
	if binary == "" {
		return nil
	}
	return launchProgram(b, binary, configForBench(b, inMemory+toml))
}

// launchProgram runs the program with its own state directory.
func launchProgram(b *testing.B, binary, config string) *process {
	b.Helper()
	cmd := exec.Command(binary, "serve", "--config", config)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.TempDir())
	return launch(b, cmd)
}

// launchProxy runs one of the limits.
func launchProxy(b *testing.B, name, target string) *process {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), peerProxy+"="+name+" "+target)
	return launch(b, cmd)
}

// launch starts a program that prints its address, and returns when it has answered there.
func launch(b *testing.B, cmd *exec.Cmd) *process {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // a proxy of the test binary ends with it
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &process{pid: cmd.Process.Pid}
	stopped := false
	p.stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	b.Cleanup(p.stop)
	line := make([]byte, 256)
	n, err := out.Read(line)
	_, rest, found := bytes.Cut(line[:n], []byte("http://"))
	if err != nil || !found {
		b.Fatalf("it said %q, %v", line[:n], err)
	}
	p.url = "http://" + strings.FieldsFunc(string(rest), func(r rune) bool { return r == ' ' || r == '\n' })[0]
	res, err := http.Get(p.url + "/healthz")
	if err != nil {
		b.Fatal(err)
	}
	_ = res.Body.Close()
	return p
}

// stopAll stops those that are not nil.
func stopAll(all ...*process) {
	for _, p := range all {
		if p != nil {
			p.stop()
		}
	}
}

// buildForBench builds the program once for all benchmarks.
func buildForBench(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(builds.dir, "secateur-bench")
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/secateur")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func configForBench(b *testing.B, toml string) (file string) {
	b.Helper()
	file = filepath.Join(b.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("listen = \"127.0.0.1:0\"\nlog_level = \"ERROR\"\n"+toml), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// playProxy is a proxy until standard input ends.
func playProxy(what string) {
	name, target, _ := strings.Cut(what, " ")
	var handler http.Handler
	switch name {
	case "minimal":
		handler = minimalProxy(target)
	case "reverseproxy":
		handler = reverseProxy(target)
	default:
		panic("no proxy is called " + name)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", ln.Addr())
	go func() { _ = (&http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}).Serve(ln) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// minimalProxy is a minimal proxy of whole messages.
func minimalProxy(target string) http.Handler {
	client := &http.Client{Transport: newTransport()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, target, bytes.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
}

// reverseProxy is the standard library's.
func reverseProxy(target string) http.Handler {
	to, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	reverse := &httputil.ReverseProxy{Transport: newTransport(), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it some answers are cut short.
		_ = http.NewResponseController(w).EnableFullDuplex()
		reverse.ServeHTTP(w, r)
	})
}

func newTransport() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 256, DialContext: (&net.Dialer{}).DialContext}
}

// allocations returns how many allocations the program at url reports so far.
func allocations(b *testing.B, url string) float64 {
	b.Helper()
	res, err := http.Get(url + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte("\ngo_memstats_mallocs_total "))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		b.Fatalf("go_memstats_mallocs_total: %v", err)
	}
	return n
}
