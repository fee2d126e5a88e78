package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/llm/proxy"
)

// dying is a provider whose stream ends after a number of bytes with this error. It is read in
// pieces of the given size.
type dying struct {
	stream string
	err    error
	piece  int
}

func (d *dying) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	rest := d.stream
	body := reads(func(p []byte) (int, error) {
		if rest == "" {
			return 0, d.err
		}
		n := copy(p[:min(len(p), d.piece)], rest)
		rest = rest[n:]
		return n, nil
	})
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}},
		ContentLength: -1, TransferEncoding: []string{"chunked"}, Body: io.NopCloser(body),
	}, nil
}

type reads func(p []byte) (int, error)

func (r reads) Read(p []byte) (int, error) { return r(p) }

var blankLine = regexp.MustCompile(`\r?\n\r?\n|\r\r`)

var comment = regexp.MustCompile(`(?m)^:[^\r\n]*(\r?\n|$)`)

// dispatched returns the events of a stream as a client sees them: no comments, and no event
// without its blank line.
func dispatched(stream string) (events []string) {
	parts := blankLine.Split(stream, -1)
	for _, part := range parts[:len(parts)-1] {
		if event := strings.Trim(comment.ReplaceAllString(part, ""), "\r\n"); event != "" {
			events = append(events, event)
		}
	}
	return events
}

// TestAStreamCutAtAnyByte lets a provider die after every byte of a response. The client gets every
// complete event unchanged and nothing of the next, and then an error. Only the whole stream looks
// whole; the last blank line may be missing.
func TestAStreamCutAtAnyByte(t *testing.T) {
	const (
		claude = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n: a comment\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n" +
			"event: future\nid: 7\ndata: {\"type\":\"future\",\ndata: \"é\":\"😀\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":3}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		codex = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"message_stop [DONE]\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"
		openai = "data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":\"h\\u00e9 [DONE] é\"}}]}\n\ndata: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"
	)
	for _, tt := range []struct {
		path, stream, last string
		// A clean end of an incomplete stream counts as broken too; "": its framing tells.
		end string
	}{
		{"/v1/messages", claude, "message_stop", "clean"},
		{"/v1/responses", codex, "response.completed", "clean"},
		{"/v1/chat/completions", openai, "data: [DONE]", ""},
	} {
		for _, ending := range []string{"\n", "\r\n"} {
			stream := strings.ReplaceAll(tt.stream, "\n", ending)
			all := dispatched(stream)
			if !strings.Contains(all[len(all)-1], tt.last) {
				t.Fatalf("%s ends with %q", tt.path, all[len(all)-1])
			}
			for cut := range len(stream) + 1 {
				for _, err := range []error{io.ErrUnexpectedEOF, io.EOF} {
					if err == io.EOF && tt.end == "" { //nolint:errorlint // as made above
						continue
					}
					d := &dying{stream: stream[:cut], err: err, piece: 1 + cut%50}
					px := newProxyOnly(t, d)
					got, broken := px(tt.path)
					events, whole := dispatched(got), dispatched(stream[:cut])
					if len(events) < len(whole) || strings.Join(events[:len(whole)], "|") != strings.Join(whole, "|") {
						t.Fatalf("%s cut at %d: the client has %q of %q", tt.path, cut, events, whole)
					}
					isWhole := len(whole) == len(all) || err == io.EOF && cut >= len(strings.TrimRight(stream, "\r\n")) //nolint:errorlint // as made above
					told := len(events) == len(whole)+1 && strings.Contains(events[len(whole)], `"error"`)
					if len(events) > len(whole) && !told || isWhole == (told || broken) && cut < len(stream) || isWhole && told {
						t.Fatalf("%s cut at %d of %d (%v): the client has %q, broken %v", tt.path, cut, len(stream), err, got, broken)
					}
				}
			}
		}
	}
}

// newProxyOnly calls a proxy directly. It returns the body of the response, and whether the
// connection broke.
func newProxyOnly(t *testing.T, to http.RoundTripper) func(path string) (string, bool) {
	t.Helper()
	provider := proxy.Provider{BaseURL: "http://127.0.0.1:1/v1"}
	p, err := proxy.New(proxy.Options{
		Providers: map[string]proxy.Provider{"anthropic": provider, "openai": provider}, DefaultProvider: "openai", MaxBodyBytes: 1 << 20, Transport: to,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) (body string, broken bool) {
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if v := recover(); v != nil {
					broken = true
				}
			}()
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"model":"m","stream":true,"messages":[],"input":[]}`))
			p.Serve(w, r, &access.Principal{Subject: "x"})
		}()
		return w.Body.String(), broken
	}
}
