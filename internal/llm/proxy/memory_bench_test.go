package proxy_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"secateur/internal/store/records"
)

// nearby is a provider that takes no time and no memory.
type nearby struct{ during func() }

func (n *nearby) RoundTrip(r *http.Request) (*http.Response, error) {
	n.during()
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(smallAnswer)), Body: io.NopCloser(strings.NewReader(smallAnswer)),
	}, nil
}

// nowhere is a client that discards everything.
type nowhere http.Header

func (n nowhere) Header() http.Header         { return http.Header(n) }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkRequestMemory measures the memory for a request of 400 KB besides itself: the total
// allocation with pooled buffers (÷body), and the live memory while it is sent without them
// (÷body-held).
func BenchmarkRequestMemory(b *testing.B) {
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"} {
		for _, strategy := range []string{"priced", "sliding"} {
			for _, kind := range []string{"again", "next", "new"} {
				b.Run(strings.TrimSuffix(path[len("/v1/"):], "/completions")+"/"+strategy+"/"+kind, func(b *testing.B) {
					to := &nearby{during: func() {}}
					h, err := newDoor("http://127.0.0.1:1", strategy, to, &records.Memory{})
					if err != nil {
						b.Fatal(err)
					}
					body := bodies(path, kind)
					n := 0
					send := func() (size int) {
						doc := body(n)
						n++
						h.ServeHTTP(nowhere{}, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(doc)))
						return len(doc)
					}
					for range 20 {
						send()
					}
					var held, sizes float64
					for range 10 {
						runtime.GC()
						runtime.GC() // the pools are empty now
						before := heap()
						to.during = func() { runtime.GC(); held += float64(heap()) - float64(before) }
						sizes += float64(send())
					}
					to.during = func() {}
					held = held/sizes - 1
					sizes = 0
					var first, last runtime.MemStats
					runtime.ReadMemStats(&first)
					for b.Loop() {
						sizes += float64(send())
					}
					runtime.ReadMemStats(&last)
					b.ReportMetric(float64(last.TotalAlloc-first.TotalAlloc)/sizes, "÷body")
					b.ReportMetric(held, "÷body-held")
				})
			}
		}
	}
}
