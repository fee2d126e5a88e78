package capture

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"secateur/internal/access"
)

// Recorder records requests as its settings say. A nil *Recorder records nothing.
type Recorder struct {
	settings Settings
	secrets  *redactor
	book     *Book
}

// New returns a Recorder, or nil if the settings disable it.
func New(s Settings, secrets Secrets, book *Book) (*Recorder, error) {
	if s.Bytes == 0 {
		return nil, nil //nolint:nilnil // a nil one records nothing
	}
	r, err := newRedactor(secrets)
	return &Recorder{settings: s, secrets: r, book: book}, err
}

// margin is how much more than kept is examined, so that a secret at the end is recognized.
const margin = 4 << 10

// Begin copies a caller's request and its response as they pass. end stores them, for the caller's
// tenant.
func (c *Recorder) Begin(p *access.Principal, request string, w http.ResponseWriter, r *http.Request) (_ http.ResponseWriter, _ *http.Request, end func()) {
	in, out := &copied{most: c.settings.Bytes + margin}, &copied{most: c.settings.Bytes + margin}
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy: the caller's request keeps its body
		r.Body = bodyTap{r.Body, in}
	}
	return writerTap{w, out}, r, func() {
		e := Exchange{holder: access.HolderOf(p), ExpiresAt: time.Now().Add(c.settings.TTL), Request: c.payload(in), Answer: c.payload(out)}
		if isModelStream(w.Header(), r.URL.Path) {
			e.Answer.Text, e.Answer.Note = "", "a model's answer in pieces is not kept: a secret could be in several of them"
		}
		c.book.put(p.Owner(), request, e)
	}
}

// isModelStream reports whether a response is streamed as pieces of a text.
func isModelStream(h http.Header, path string) bool {
	isMCP := strings.HasPrefix(path, "/mcp") || strings.HasPrefix(path, "/api/mcp-gateway/") || path == "/rpc"
	return !isMCP && strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// payload returns the stored form of a body.
func (c *Recorder) payload(from *copied) Payload {
	from.mu.Lock()
	defer from.mu.Unlock()
	text := c.secrets.clean(from.data, from.total == int64(len(from.data)))
	p := Payload{Text: text, Bytes: from.total, Cut: from.total > int64(len(from.data))}
	if len(text) > c.settings.Bytes {
		p.Text, p.Cut = strings.ToValidUTF8(text[:c.settings.Bytes], ""), true
	}
	return p
}

// copied is the beginning of a body.
type copied struct {
	most int

	mu    sync.Mutex // guards the fields below
	data  []byte
	total int64
}

func (c *copied) take(p []byte) {
	if len(p) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(p))
	c.data = append(c.data, p[:min(len(p), c.most-len(c.data))]...)
}

// bodyTap copies what is read from a request.
type bodyTap struct {
	io.ReadCloser
	to *copied
}

// Read reads and copies.
func (b bodyTap) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.to.take(p[:n])
	return n, err
}

// writerTap copies what is written to a response.
type writerTap struct {
	http.ResponseWriter
	to *copied
}

// Write writes and copies.
func (w writerTap) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.to.take(p[:n])
	return n, err
}

// Unwrap is for http.ResponseController.
func (w writerTap) Unwrap() http.ResponseWriter { return w.ResponseWriter }
