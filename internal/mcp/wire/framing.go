package wire

import "strconv"

// Framing says how messages are delimited on a stream.
type Framing string

// The supported framings.
const (
	Lines         Framing = "line"           // one message per line
	ContentLength Framing = "content-length" // a header block with the length precedes each message
)

// AppendFrame appends a message in this framing. With Lines, line breaks between tokens become
// spaces; JSON strings contain none.
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
