package downstream

// Server-Sent Events as defined by the HTML standard. Priming events are those of MCP 2025-11-25
// (SEP-1699).

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// eventID identifies an event by its stream within the session and its message number. It is sent
// as the event's id, so that a client can ask for what follows. A stream's messages are numbered
// from 1; 0 is its beginning.
type eventID struct {
	stream  uint64
	message uint64
}

// appendID appends it as an event's id: "3-17".
func (p eventID) appendID(dst []byte) []byte {
	dst = strconv.AppendUint(dst, p.stream, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, p.message, 10)
}

// readEventID parses an event's id.
func readEventID(id string) (p eventID, ok bool) {
	stream, message, ok := strings.Cut(id, "-")
	if !ok {
		return eventID{}, false
	}
	p.stream, ok = readNumber(stream)
	if !ok {
		return eventID{}, false
	}
	p.message, ok = readNumber(message)
	return p, ok
}

// readNumber parses the output of AppendUint. It accepts digits only, so that each id has one
// spelling.
func readNumber(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return n, err == nil && strconv.FormatUint(n, 10) == s
}

// retryTime is how long a client should wait before it returns to a broken stream.
const retryTime = time.Second

// appendPriming appends the event without data that begins a stream. It lets the client resume the
// stream even if it has received nothing else.
func appendPriming(dst []byte, p eventID) []byte {
	dst = append(dst, "id: "...)
	dst = p.appendID(dst)
	dst = append(dst, "\nretry: "...)
	dst = strconv.AppendInt(dst, retryTime.Milliseconds(), 10)
	return append(dst, "\ndata:\n\n"...)
}

// keepAlive is a comment that keeps a connection from looking dead.
const keepAlive = ": keep-alive\n\n"

// appendEventHead appends an event up to the start of its data. The zero eventID writes no id.
func appendEventHead(dst []byte, p eventID) []byte {
	dst = append(dst, "event: message\n"...)
	if p.message > 0 {
		dst = append(dst, "id: "...)
		dst = p.appendID(dst)
		dst = append(dst, '\n')
	}
	return append(dst, "data: "...)
}

// eventTail ends an event.
const eventTail = "\n\n"

// maxEventHead is the maximum length of appendEventHead's output.
const maxEventHead = 80

// appendEvent appends a complete event.
func appendEvent(dst []byte, p eventID, msg []byte) []byte {
	dst = appendEventHead(dst, p)
	start := len(dst)
	dst = append(dst, msg...)
	joinLines(dst[start:])
	return append(dst, eventTail...)
}

// joinLines puts a JSON document on one line. Line breaks occur only between tokens, so spaces can
// replace them.
func joinLines(doc []byte) {
	if isOneLine(doc) {
		return
	}
	for i, c := range doc {
		if c == '\n' || c == '\r' {
			doc[i] = ' '
		}
	}
}

// isOneLine reports whether a document can be used unchanged as an event's data.
func isOneLine(doc []byte) bool {
	return bytes.IndexByte(doc, '\n') < 0 && bytes.IndexByte(doc, '\r') < 0
}
