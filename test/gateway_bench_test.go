package test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"secateur/internal/config"
)

// BenchmarkGateway measures one call through the gateway, everything on: guard, strict parse, masking, store. Beside
// it, in the same run and in front of the same server: no proxy at all; a minimal proxy that reads the body, posts
// it and writes what it gets; and the standard library's ReverseProxy.
func BenchmarkGateway(b *testing.B) {
	for _, size := range []struct {
		name   string
		result string
	}{
		{"small", `{"content":[{"type":"text","text":"ok"}]}`},
		{"100KB", `{"content":[` + strings.Repeat(`{"type":"text","text":"`+strings.Repeat("x", 1000)+`"},`, 99) + `{}]}`},
		{"1MB-one-string", `{"content":[{"type":"text","text":"` + strings.Repeat("a line of text in a large file\\n", 1<<20/32) + `"}]}`},
		{"1MB-records", `{"rows":[` + strings.Repeat(`{"id":12345,"name":"a name","note":"some words about it"},`, 1<<20/58) + `{}]}`},
	} {
		answer := []byte(`{"jsonrpc":"2.0","id":1,"result":` + size.result + `}`)
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}))
		for _, conns := range []int{1, 32} {
			scene := fmt.Sprintf("%s-%dconn", size.name, conns)
			b.Run(scene+"/ours", func(b *testing.B) {
				p := startForBench(b, fmt.Sprintf("[[servers]]\nid = \"s\"\nurl = %q\ntransport = \"rpc\"\n", backend.URL))
				load(b, p.url+"/api/mcp-gateway/s/rpc", conns, len(answer))
			})
			b.Run(scene+"/direct", func(b *testing.B) { load(b, backend.URL+"/rpc", conns, len(answer)) })
			b.Run(scene+"/minimal", func(b *testing.B) {
				proxy := httptest.NewServer(minimalProxy(backend.URL + "/rpc"))
				defer proxy.Close()
				load(b, proxy.URL, conns, len(answer))
			})
			b.Run(scene+"/reverseproxy", func(b *testing.B) {
				target, err := url.Parse(backend.URL)
				if err != nil {
					b.Fatal(err)
				}
				reverse := &httputil.ReverseProxy{
					Transport: newTransport(),
					Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
				}
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_ = http.NewResponseController(w).EnableFullDuplex() // without it some answers are cut short
					reverse.ServeHTTP(w, r)
				}))
				defer proxy.Close()
				load(b, proxy.URL, conns, len(answer))
			})
		}
		backend.Close()
	}
}

// startForBench is start without the noise.
func startForBench(b *testing.B, toml string) *program {
	b.Helper()
	cfg, mistakes := config.Load("bench.toml", []byte("listen = \"127.0.0.1:0\"\nlog_level = \"ERROR\"\n"+toml), config.Options{Lookup: os.LookupEnv})
	for _, m := range mistakes {
		b.Fatal(m)
	}
	return startConfig(b, cfg)
}

// minimalProxy is the least a proxy of whole messages can do.
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

func newTransport() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: 256, DialContext: (&net.Dialer{}).DialContext}
}

// load posts the same call over and over on so many connections.
func load(b *testing.B, url string, conns, size int) {
	b.Helper()
	loadWith(b, request{url: url, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/tmp/x"}}}`}, conns, size)
}

// request is what a load consists of.
type request struct {
	url, body string
	header    http.Header // beside the content type
}

func loadWith(b *testing.B, what request, conns, size int) {
	b.Helper()
	transport := newTransport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	b.SetBytes(int64(size))
	workers := max(1, conns/runtime.GOMAXPROCS(0))
	b.SetParallelism(workers)
	var took samples
	once := func() error {
		defer took.add(time.Now())
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, what.url, strings.NewReader(what.body))
		if err != nil {
			return err
		}
		req.Header = what.header.Clone()
		if req.Header == nil {
			req.Header = http.Header{}
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", res.StatusCode)
		}
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	before := cpuTime(b)
	defer func() {
		b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		b.ReportMetric(float64(took.p99()), "p99-ns")
	}()
	if conns == 1 {
		for b.Loop() {
			if err := once(); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := once(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// samples are how long calls took.
type samples struct {
	mu  sync.Mutex
	all []time.Duration // guarded by mu
}

func (s *samples) add(began time.Time) {
	d := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

// p99 is what one call in a hundred takes longer than.
func (s *samples) p99() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return 0
	}
	slices.Sort(s.all)
	return s.all[len(s.all)*99/100]
}

// cpuTime is what this process has used of the processors so far, in nanoseconds. Unlike the time on the wall it does
// not count what other programs do meanwhile.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
