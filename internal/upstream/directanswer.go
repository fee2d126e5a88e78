package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

var (
	usualStatus = []byte("HTTP/1.1 200 ")
	lineEnd     = []byte("\r\n")
	headerEnd   = []byte("\r\n\r\n")
)

// usualAnswerHeader is what is told of the header of a usual answer. It is not changed.
var usualAnswerHeader = http.Header{"Content-Type": {"application/json"}}

// readUsualHeader reads the header of an answer that is as most are. Of any other it takes nothing.
func (c *directConn) readUsualHeader() (length int64, usual bool, err error) {
	if _, err := c.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // as net/http says it
		}
		return 0, false, err
	}
	came, _ := c.in.Peek(c.in.Buffered())
	end := bytes.Index(came, headerEnd)
	if end < 0 {
		return 0, false, nil
	}
	if length, usual = usualLength(came[:end+len(lineEnd)]); usual {
		_, _ = c.in.Discard(end + len(headerEnd))
	}
	return length, usual, nil
}

// usualLength is the length of the content behind a usual header: status 200, JSON, in a length that it tells, no coding, and a
// connection that stays. What it does not know for certain is not usual.
func usualLength(header []byte) (length int64, usual bool) {
	if !bytes.HasPrefix(header, usualStatus) {
		return 0, false
	}
	length = -1
	isJSON, first := false, true
	for len(header) > 0 {
		line, rest, _ := bytes.Cut(header, lineEnd)
		header = rest
		if !isOneHeaderLine(line) {
			return 0, false
		}
		if first {
			first = false
			continue
		}
		name, value, found := bytes.Cut(line, []byte{':'})
		if !found || !isUsualName(name) {
			return 0, false
		}
		value = bytes.Trim(value, " \t")
		switch len(name) {
		case len("Connection"):
			if isField(name, "Connection") && !isField(value, "keep-alive") {
				return 0, false
			}
		case len("Content-Type"):
			if isField(name, "Content-Type") {
				if isJSON || !isField(value, typeJSON) && !isField(value, typeJSON+"; charset=utf-8") {
					return 0, false
				}
				isJSON = true
			}
		case len("Content-Length"): // and Mcp-Session-Id
			if isField(name, "Content-Length") {
				n, err := strconv.ParseUint(string(value), 10, 62)
				if length >= 0 || err != nil {
					return 0, false
				}
				length = int64(n)
			} else if isField(name, "Mcp-Session-Id") {
				return 0, false
			}
		case len("Content-Encoding"), len("Transfer-Encoding"), len("Trailer"): // and Upgrade
			if isField(name, "Content-Encoding") || isField(name, "Transfer-Encoding") || isField(name, "Trailer") || isField(name, "Upgrade") {
				return 0, false
			}
		}
	}
	return length, isJSON && length >= 0
}

const typeJSON = "application/json"

// isField compares without regard to case.
func isField(b []byte, text string) bool {
	return len(b) == len(text) && bytes.EqualFold(b, []byte(text))
}

// isUsualName reports whether a header's name is of letters, digits and hyphens.
func isUsualName(name []byte) bool {
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) > 0
}

// usual is an answer with a usual header, whose content is to be read.
func (b *directBody) usual(length int64) *http.Response {
	b.sized = sizedBody{b.c.in, length}
	b.resp = http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: usualAnswerHeader, ContentLength: length, Body: &b.sized,
	}
	if length == 0 {
		b.resp.Body = http.NoBody
	}
	return &b.resp
}

// sizedBody reads so many bytes.
type sizedBody struct {
	in   *bufio.Reader
	left int64
}

func (s *sizedBody) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.in.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	switch {
	case s.left == 0:
		err = io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close is for whoever expects one.
func (s *sizedBody) Close() error { return nil }
