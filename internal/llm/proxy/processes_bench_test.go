package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/store/records"
)

// proxyOf is the environment variable that makes this test binary one of the proxies that a
// benchmark compares. Its value is the provider's address, a space, and the kind: the standard
// library's proxy or one of our strategies.
const proxyOf = "SECATEUR_TEST_PROXY_OF"

// The standard library's proxy, and ours without masking.
const (
	standard = "reverse"
	off      = "off"
)

// idlePath answers once all work for earlier requests is done, with the processor time of the
// process.
const idlePath = "/idle"

// isProxy serves a proxy until standard input ends, if this process is one.
func isProxy() bool {
	provider, does, ok := strings.Cut(os.Getenv(proxyOf), " ")
	if !ok {
		return false
	}
	h := reverse(provider)
	if does != standard {
		strategy, _ := strings.CutPrefix(does, off)
		dir, err := os.MkdirTemp("", "secateur-bench-")
		if err == nil {
			defer os.RemoveAll(dir)
			var kept *records.File // as in production
			if kept, err = records.OpenFile(records.FileOptions{Dir: dir}); err == nil {
				h, err = newDoor(provider, strategy, nil, kept)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:gocritic // an empty directory may stay
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("http://" + ln.Addr().String())
	var running sync.WaitGroup
	go func() {
		_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == idlePath {
				running.Wait()
				if ours, ok := h.(ourDoor); ok {
					ours.WaitForBooks()
				}
				_, _ = io.WriteString(w, strconv.FormatInt(int64(cpuTime()), 10))
				return
			}
			running.Add(1)
			defer running.Done()
			h.ServeHTTP(w, r)
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return true
}

// process is a proxy in its own process, as in production: it shares no heap and no threads with
// its clients and their provider.
type process struct {
	url    string
	client *http.Client
}

// launch starts a proxy for the duration of the benchmark.
func launch(b *testing.B, provider, does string) *process {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), proxyOf+"="+provider+" "+does)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{}
	b.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = in.Close()
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return &process{strings.TrimSpace(url), &http.Client{Transport: transport}}
}

// idle waits until all work is done, and returns the processor time of the proxy, its clients and
// their provider; 0: unknown.
func (p *process) idle(b *testing.B) time.Duration {
	b.Helper()
	res, err := p.client.Get(p.url + idlePath)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	had, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(had) + cpuTime()
}
