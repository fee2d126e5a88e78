package upstream

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A request that is written directly is, for net/http's server, the one that net/http's client would have sent.
func TestDirectWritesWhatWasMeant(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:8080", "http://example.org/mcp?a=b&c=%20d", "http://[::1]:90/a%2Fb/\u00fc"} {
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		var d direct
		for _, closes := range []bool{false, true} {
			p := directPost{to: to, body: []byte(`{"id":1}`), once: closes, header: http.Header{
				"User-Agent": {"secateur/1"}, "Content-Type": {"application/json"}, "X-Two": {"one", "a\tb"},
			}}
			start, err := d.startOf(to)
			if err != nil {
				t.Fatal(err)
			}
			wire, err := p.appendTo(slices.Clone(start))
			if err != nil {
				t.Fatal(err)
			}
			var theirs bytes.Buffer
			req := http.Request{Method: http.MethodPost, URL: to, Header: p.header, Close: closes, ContentLength: int64(len(p.body)), Body: io.NopCloser(bytes.NewReader(p.body))}
			if err := req.Write(&theirs); err != nil {
				t.Fatal(err)
			}
			got, want := readPost(t, wire), readPost(t, theirs.Bytes())
			if got.RequestURI != want.RequestURI || got.Host != want.Host || got.Close != want.Close || got.ContentLength != want.ContentLength ||
				!maps.EqualFunc(got.Header, want.Header, slices.Equal) {
				t.Errorf("%s was written\n%s\nwant\n%s", address, wire, theirs.Bytes())
			}
			if body, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(body, p.body) {
				t.Errorf("content %q, %v", body, err)
			}
		}
	}
}

func readPost(t *testing.T, wire []byte) *http.Request {
	t.Helper()
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, wire)
	}
	return req
}

// A value with a line break would be a header of its own.
func TestDirectSendsNoValueWithALineBreak(t *testing.T) {
	for _, value := range []string{"a\r\nX-Admin: yes", "a\nb", "a\x00b", "\x7f"} {
		p := directPost{header: http.Header{"Authorization": {"Bearer " + value}}}
		if wire, err := p.appendTo(nil); err == nil {
			t.Errorf("%q was written as %q", value, wire)
		}
	}
}

// usualHeaders are headers, and whether they are usual.
var usualHeaders = []struct {
	header string
	usual  bool
}{
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Mon, 16 Nov 2026 05:00:00 GMT\r\nContent-Length: 12\r\n", true},
	{"HTTP/1.1 200 \r\ncontent-type:application/json; charset=utf-8\r\nCONTENT-LENGTH:0\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n", true},
	{"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n", false},
	{"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nContent-Length: 13\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: +12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12, 12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nTransfer-Encoding : chunked\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\ncontent-encoding: gzip\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nMcp-Session-Id: x\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nUpgrade: h2c\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nX: a\r\n b\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nX: a\nTransfer-Encoding: chunked\r\n", false},
	{"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\nContent-Length: 12\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\nno colon\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n: no name\r\n", false},
}

func TestUsualHeaders(t *testing.T) {
	for _, c := range usualHeaders {
		if _, usual := usualLength([]byte(c.header)); usual != c.usual {
			t.Errorf("usual: %v, want %v\n%s", usual, c.usual, c.header)
		}
	}
}

// What is taken for usual says the same to net/http.
func FuzzUsualHeaderIsNetHTTPs(f *testing.F) {
	for _, c := range usualHeaders {
		f.Add(c.header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if strings.Contains(header, "\r\n\r\n") || !strings.HasSuffix(header, "\r\n") {
			return // it is cut there
		}
		length, usual := usualLength([]byte(header))
		if !usual {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(header+"\r\n")), &http.Request{Method: http.MethodPost})
		if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != length || resp.Close || len(resp.TransferEncoding) > 0 || len(resp.Trailer) > 0 {
			t.Fatalf("length %d for us, %+v, %v for net/http:\n%q", length, resp, err, header)
		}
		_ = resp.Body.Close()
		if isEventStream(resp) || resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Mcp-Session-Id") != "" {
			t.Fatalf("it is no plain JSON:\n%q", header)
		}
	})
}
