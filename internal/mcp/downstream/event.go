package downstream

// Server-Sent Events as the HTML standard defines them; priming events are those of MCP 2025-11-25 (SEP-1699).

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// eventID is where an event stands: in which stream of its session, and as which of its messages. It is what an event's
// id says, so that a client can ask for what came after. A stream's messages are numbered from 1; 0 is its beginning.
type eventID struct {
	stream  uint64
	message uint64
}

// appendID writes it as an event's id: "3-17".
func (p eventID) appendID(dst []byte) []byte {
	dst = strconv.AppendUint(dst, p.stream, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, p.message, 10)
}

// readPlace reads the id of an event.
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

// readNumber reads what AppendUint wrote: digits alone, so that no two texts mean the same id.
func readNumber(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return n, err == nil && strconv.FormatUint(n, 10) == s
}

// retryTime is how long a client is asked to wait before it comes back to a stream that broke.
const retryTime = time.Second

// appendPriming writes the event without data that a stream begins with, so that its client can come back even if it
// has got nothing else.
func appendPriming(dst []byte, p eventID) []byte {
	dst = append(dst, "id: "...)
	dst = p.appendID(dst)
	dst = append(dst, "\nretry: "...)
	dst = strconv.AppendInt(dst, retryTime.Milliseconds(), 10)
	return append(dst, "\ndata:\n\n"...)
}

// keepAlive is a comment: it keeps a connection from looking dead.
const keepAlive = ": keep-alive\n\n"

// appendEventHead writes an event up to where its data begins. The zero value is no id.
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

// maxEventHead is how long appendEventHead's part is at most.
const maxEventHead = 80

// appendEvent writes a whole event.
func appendEvent(dst []byte, p eventID, msg []byte) []byte {
	dst = appendEventHead(dst, p)
	start := len(dst)
	dst = append(dst, msg...)
	joinLines(dst[start:])
	return append(dst, eventTail...)
}

// joinLines makes one line of a JSON document: line breaks stand only between its tokens, where a space does as well.
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

// isOneLine tells whether a document can be an event's data as it is.
func isOneLine(doc []byte) bool {
	return bytes.IndexByte(doc, '\n') < 0 && bytes.IndexByte(doc, '\r') < 0
}
