package upstream

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// startLines are what requests to an address begin with.
type startLines struct {
	to   *url.URL
	text []byte
}

// startOf gives the request line and the Host of requests to an address, as net/http writes them.
func (d *direct) startOf(to *url.URL) ([]byte, error) {
	if s := d.start.Load(); s != nil && s.to == to {
		return s.text, nil
	}
	var whole bytes.Buffer
	req := http.Request{Method: http.MethodPost, URL: to, Host: to.Host, Header: http.Header{"User-Agent": {""}}}
	if err := req.Write(&whole); err != nil {
		return nil, err
	}
	text, _, _ := bytes.Cut(whole.Bytes(), []byte("Content-Length:"))
	d.start.Store(&startLines{to, text})
	return text, nil
}

// appendTo writes the rest of a request.
func (p *directPost) appendTo(dst []byte) ([]byte, error) {
	for name, values := range p.header {
		for _, value := range values {
			if !isOneHeaderLine(value) { // it may have come from a server
				return dst, fmt.Errorf("net/http: invalid header field value for %q", name) // in the words of net/http
			}
			dst = append(dst, name...)
			dst = append(dst, ": "...)
			dst = append(dst, value...)
			dst = append(dst, "\r\n"...)
		}
	}
	if p.once {
		dst = append(dst, "Connection: close\r\n"...)
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(p.body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, p.body...), nil
}

// isOneHeaderLine reports whether a text has no control character but tabs.
func isOneHeaderLine[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
