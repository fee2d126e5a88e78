package wire

import "strconv"

// Framing is how messages follow each other on a stream.
type Framing string

// The framings.
const (
	Lines         Framing = "line"           // one message a line
	ContentLength Framing = "content-length" // a header block with the length before each message
)

// AppendFrame appends a message the way the framing wants it. On a line, line breaks
// between a message's tokens become spaces; inside strings there are none.
func (f Framing) AppendFrame(dst, msg []byte) []byte {
	if f == ContentLength {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(msg)), 10)
		dst = append(dst, "\r\n\r\n"...)
		return append(dst, msg...)
	}
	start := len(dst)
	dst = append(dst, msg...)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' {
			dst[start+i] = ' '
		}
	}
	return append(dst, '\n')
}
