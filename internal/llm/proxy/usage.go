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

// meter reads along in an answer to find what the provider has counted. It never holds the answer up: what it cannot
// read it leaves alone, and estimates stand in.
type meter struct {
	stream bool
	plain  bool
	events bill.Meter
	inLine bool    // the events so far end in the middle of a line
	copied *buffer // what cannot be read before it is whole; nil: nothing, or too much of it
}

// Bounds of what is kept aside to be read at the end, and of what it may unpack to.
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

// usageEnd is how the name of a usage ends: quotes are so frequent in a stream that to look for one that begins the name takes several times as long.
var usageEnd = []byte(`usage"`)

// readEvents reads a piece of a stream. Few lines of it tell anything: the others are passed over.
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

// isHalf tells whether what should be JSON is not: where nothing else says that an answer has ended, this does.
func (m *meter) isHalf() bool {
	return !m.stream && m.plain && m.copied != nil && rawjson.Check(m.copied.bytes, chat.MaxDepth) != nil
}

// result is what the provider has counted; nil where it did not say.
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

// unpack gives as much as can be had.
func unpack(packed []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	doc, _ := io.ReadAll(io.LimitReader(z, maxUnpacked)) // half a document has no usage, and that is answer enough
	return doc
}
