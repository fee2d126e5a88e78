package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// meter reads a copy of a response to find the provider's counts. It never delays the response. If
// it cannot read it, estimates are used.
type meter struct {
	stream bool
	plain  bool
	events bill.Meter
	inLine bool    // the events so far end within a line
	copied *buffer // buffered until it is complete; nil: nothing, or too much
}

// Bounds for the buffered copy, and for its unpacked size.
const (
	maxCopied   = 4 << 20
	maxUnpacked = 16 << 20
)

func newMeter(res *http.Response) *meter {
	m := &meter{stream: isEventStream(res.Header), plain: !isEncoded(res.Header)}
	if !m.plain && !strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		return nil
	}
	if (!m.stream || !m.plain) && res.ContentLength <= maxCopied {
		m.copied = grab(int(max(res.ContentLength, 0)))
	}
	return m
}

func (m *meter) read(p []byte) {
	switch {
	case m.stream && m.plain:
		m.readEvents(p)
	case m.copied == nil:
	case len(m.copied.bytes)+len(p) > maxCopied:
		m.close()
	default:
		m.copied.bytes = append(m.copied.bytes, p...)
	}
}

// usageEnd is the end of the name "usage". Searching for the opening quote takes several times as
// long, because quotes are frequent.
var usageEnd = []byte(`usage"`)

// readEvents reads a piece of a stream. It skips the many lines without usage.
func (m *meter) readEvents(p []byte) {
	if m.inLine && len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		_, _ = m.events.Write(p[:end])
		m.inLine = p[end-1] != '\n'
		p = p[end:]
	}
	if !bytes.Contains(p, usageEnd) {
		p = p[bytes.LastIndexByte(p, '\n')+1:]
	}
	if len(p) > 0 {
		_, _ = m.events.Write(p)
		m.inLine = p[len(p)-1] != '\n'
	}
}

// isHalf reports whether expected JSON is incomplete, for responses without another sign of their
// end.
func (m *meter) isHalf() bool {
	return !m.stream && m.plain && m.copied != nil && rawjson.Check(m.copied.bytes, chat.MaxDepth) != nil
}

// result returns the provider's counts; nil: none reported.
func (m *meter) result() *bill.Usage {
	var doc []byte
	if m.copied != nil {
		doc = m.copied.bytes
	}
	if !m.plain {
		doc = unpack(doc)
	}
	var u bill.Usage
	var ok bool
	switch {
	case !m.stream:
		u, ok = bill.ParseUsage(doc)
	case m.plain:
		u, ok = m.events.Usage()
	default:
		_, _ = m.events.Write(doc)
		u, ok = m.events.Usage()
	}
	if !ok {
		return nil
	}
	return &u
}

func (m *meter) close() {
	if m.copied != nil {
		m.copied.release()
		m.copied = nil
	}
}

// unpack returns as much as possible.
func unpack(packed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	// Half a document has no usage, which is fine.
	doc, _ := io.ReadAll(io.LimitReader(z, maxUnpacked))
	return doc
}
