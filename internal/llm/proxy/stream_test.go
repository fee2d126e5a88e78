package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/llm/proxy"
)

const smallStream = ": hello\r\n\r\nevent: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\n\n" +
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\r\n\r\ndata: [DONE]\n\n"

const streamRequest = `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`

func chunked(contentType string, parts ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", contentType)
	for _, p := range parts {
		if p != "" {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
		}
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// withRaw is a proxy in front of a provider that answers with raw bytes.
func withRaw(t *testing.T, answer *atomic.Pointer[[]byte]) *proxied {
	t.Helper()
	url := rawProvider(t, func() []byte { return *answer.Load() })
	return newProxy(t, func(o *proxy.Options) {
		o.Providers["main"] = proxy.Provider{BaseURL: url}
		o.Masking = masking("priced")
	}, nil)
}

func TestStreamsPassWhateverTheirChunks(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	px := withRaw(t, &answer)
	for cut := range len(smallStream) {
		b := chunked("text/event-stream", smallStream[:cut], smallStream[cut:])
		answer.Store(&b)
		if got := px.post(t, streamRequest); got.body != smallStream || got.err != nil {
			t.Fatalf("cut at %d: %q, %v", cut, got.body, got.err)
		}
	}
	parts := strings.Split(smallStream, "")
	b := chunked("text/event-stream; charset=utf-8", parts...)
	answer.Store(&b)
	if got := px.post(t, streamRequest); got.body != smallStream || got.err != nil {
		t.Errorf("byte by byte: %q, %v", got.body, got.err)
	}
	huge := "data: \"" + strings.Repeat("x", 3<<20) + "\"\n\n" + smallStream
	b2 := chunked("text/event-stream", huge[:1<<20], huge[1<<20:])
	answer.Store(&b2)
	if got := px.post(t, streamRequest); got.body != huge || got.err != nil {
		t.Errorf("huge event: %d bytes, %v", len(got.body), got.err)
	}
}

func TestAStreamThatBreaksOffEndsWithAnErrorEvent(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	px := withRaw(t, &answer)
	whole := chunked("text/event-stream", smallStream)
	head := bytes.Index(whole, []byte("\r\n\r\n")) + 4
	start := bytes.Index(whole, []byte(": hello"))
	lastEvent := strings.Index(smallStream, "data: [DONE]") + len("data: [DONE]")
	for cut := head; cut < len(whole)-len("0\r\n\r\n"); cut++ {
		b := whole[:cut]
		answer.Store(&b)
		sent := smallStream[:max(0, min(cut-start, len(smallStream)))]
		if len(sent) < lastEvent { // nothing of an incomplete event arrives
			for sent != "" && !strings.HasSuffix(sent, "\n\n") && !strings.HasSuffix(sent, "\n\r\n") && sent != ": hello\r\n" {
				sent = sent[:len(sent)-1]
			}
		}
		got := px.post(t, streamRequest)
		rest, ok := strings.CutPrefix(got.body, sent)
		if got.status != 200 || !ok {
			t.Fatalf("cut at %d: status %d, %q does not start with %q", cut, got.status, got.body, sent)
		}
		if len(sent) >= lastEvent { // after its last word only the connection tells
			if got.err == nil || rest != "" {
				t.Errorf("cut at %d, behind the end: %q, %v, want a broken connection", cut, rest, got.err)
			}
			continue
		}
		event, ok := strings.CutPrefix(strings.TrimLeft(rest, "\r\n"), `data: {"error":{"message":"`)
		if got.err != nil || !ok || !strings.HasSuffix(event, "}}\n\n") || strings.Contains(got.body, "[DONE]") {
			t.Fatalf("cut at %d: ends with %q, %v", cut, rest, got.err)
		}
		for line := range strings.Lines(got.body) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && !json.Valid([]byte(data)) {
				t.Errorf("cut at %d: a client fails to read %q before it comes to the error", cut, data)
			}
		}
	}
	if n := px.counted(t, "secateur_chat_requests_total", "outcome", "broken_off"); n == 0 {
		t.Error("streams that broke off were not counted")
	}
}

func TestAStreamWithoutFrameEndsWithItsMark(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	px := withRaw(t, &answer)
	for cut := range len(smallStream) + 1 {
		b := []byte("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n" + smallStream[:cut])
		answer.Store(&b)
		got := px.post(t, streamRequest)
		if cut == len(smallStream) {
			if got.body != smallStream || got.err != nil {
				t.Errorf("whole: %q, %v", got.body, got.err)
			}
			continue
		}
		if got.err == nil && !strings.Contains(got.body, `data: {"error"`) && !strings.HasPrefix(got.body, smallStream[:len(smallStream)-1]) {
			t.Errorf("cut at %d: a clean end of %q", cut, got.body)
		}
	}
}

func TestHalfAJSONAnswerBreaksTheConnection(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	px := withRaw(t, &answer)
	sized := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(smallAnswer), smallAnswer)
	framed := chunked("application/json", smallAnswer[:20], smallAnswer[20:])
	stream := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(smallStream), smallStream)
	unframed := []byte("HTTP/1.0 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n\r\n" + smallAnswer)
	for name, whole := range map[string][]byte{"without either": unframed, "with a length": sized, "in chunks": framed, "stream with a length": stream} {
		t.Run(name, func(t *testing.T) {
			head := bytes.Index(whole, []byte("\r\n\r\n")) + 4
			for cut := head; cut < len(whole); cut++ {
				b := whole[:cut]
				answer.Store(&b)
				if got := px.post(t, `{"model":"m"}`); got.err == nil {
					t.Fatalf("cut at %d: a clean end of %q", cut, got.body)
				}
			}
			answer.Store(&whole)
			if got := px.post(t, `{"model":"m"}`); got.err != nil {
				t.Errorf("whole: %v", got.err)
			}
		})
	}
}

func TestHalfAnAnswerHeadIsAnError(t *testing.T) {
	var answer atomic.Pointer[[]byte]
	px := withRaw(t, &answer)
	whole := chunked("application/json", "{}")
	for cut := range bytes.Index(whole, []byte("\r\n\r\n")) + 3 {
		b := whole[:cut]
		answer.Store(&b)
		if got := px.post(t, `{"model":"m"}`); got.status != 502 || !strings.Contains(got.body, `"code":"upstream_unavailable"`) {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
	}
}

func TestEventsAreNotHeldBack(t *testing.T) {
	next := make(chan string)
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for text := range next {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	})
	px := newProxy(t, func(o *proxy.Options) { o.Masking = masking("priced") }, one(p))
	res := px.open(t, t.Context(), streamRequest)
	defer res.Body.Close()
	if res.Header.Get("X-Secateur-Masked") != "0" || res.Header.Get("X-Secateur-Bill-Ratio") == "" {
		t.Errorf("headers came without what was masked: %v", res.Header)
	}
	for _, event := range [][]string{{"data: 1\n\n"}, {"da", "ta: ", "2", "\n", "\n"}, {": ping\n"}, {"data: [DONE]", "\n\n"}} {
		for _, piece := range event {
			next <- piece
		}
		want := strings.Join(event, "")
		got := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	close(next)
}

func TestAClientThatGoesAwayCancelsTheProvider(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		answer func(w http.ResponseWriter)
	}{
		{"before the answer", func(http.ResponseWriter) {}},
		{"in the middle of it", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
		}},
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
			t.Run(tt.rule+" "+path, func(t *testing.T) {
				asked, gone := make(chan struct{}), make(chan struct{})
				p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
					tt.answer(w)
					close(asked)
					<-r.Context().Done()
					close(gone)
				})
				px := newProxy(t, func(o *proxy.Options) { o.Masking = masking("priced") }, one(p))
				ctx, cancel := context.WithCancel(t.Context())
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, px.URL+path, strings.NewReader(streamRequest))
				transport := &http.Transport{}
				defer transport.CloseIdleConnections()
				done := make(chan struct{})
				go func() {
					defer close(done)
					if res, err := transport.RoundTrip(req); err == nil {
						_, _ = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
					}
				}()
				<-asked
				cancel()
				select {
				case <-gone:
				case <-time.After(time.Minute):
					t.Error("the provider went on")
				}
				<-done
			})
		}
	}
}

func TestARequestIsNeverSentTwiceOnceItWasWritten(t *testing.T) {
	var asked atomic.Int32
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer func() { _ = ln.Close(); all.Wait() }()
	answer := func(conn net.Conn) { // the first request of all; it hangs up on every other
		defer conn.Close()
		for r := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if asked.Add(1) > 1 {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	}
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { answer(conn) })
		}
	})
	px := newProxy(t, func(o *proxy.Options) {
		o.Providers["main"] = proxy.Provider{BaseURL: "http://" + ln.Addr().String()}
	}, nil)
	for i, want := range []int{200, 502} {
		if got := px.post(t, `{"model":"m"}`, "Idempotency-Key", "k", "X-Idempotency-Key", "k"); got.status != want {
			t.Errorf("request %d: status %d, want %d", i, got.status, want)
		}
	}
	_ = px.proxy.Close()
	if n := asked.Load(); n != 2 {
		t.Errorf("the provider was asked %d times for 2 requests", n)
	}
}

func TestASlowProviderIsATimeout(t *testing.T) {
	release := make(chan struct{})
	p := newProvider(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	px := newProxy(t, func(o *proxy.Options) { o.Patience = 50 * time.Millisecond }, one(p))
	if got := px.post(t, `{"model":"m"}`); got.status != 504 || !strings.Contains(got.body, `"code":"upstream_timeout"`) {
		t.Errorf("answer = %+v", got)
	}
}

func TestCompressedAnswersPassAsTheyAre(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, smallStream)
	_ = z.Close()
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	px := newProxy(t, func(o *proxy.Options) { o.Masking = masking("priced") }, one(p))
	if got := px.post(t, streamRequest, "Accept-Encoding", "gzip"); got.body != packed.String() || got.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("answer = %d bytes, %v", len(got.body), got.header)
	}
}

func TestProtocolsCanBeChanged(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Sec-Websocket-Key") != "k" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, strings.ToUpper(line))
	})
	px := newProxy(t, nil, one(p))
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", px.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\nthere\n")
	got, _ := io.ReadAll(conn)
	if !bytes.HasPrefix(got, []byte("HTTP/1.1 101 ")) || !bytes.HasSuffix(got, []byte("\r\n\r\nhello THERE\n")) {
		t.Errorf("got %q", got)
	}
}

// open sends a chat request and leaves its response to the caller.
func (px *proxied) open(t *testing.T, ctx context.Context, body string) *http.Response { //nolint:revive // t first, as in all tests
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, px.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
