package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// A Reader reads messages from a stream. It is not safe for concurrent use.
type Reader struct {
	in      *bufio.Reader
	framing Framing
	max     int
	ragged  bool // see Ragged

	// Room, if set, is called with the bytes that a message needs so far, and with 0 when reading
	// ends. If it returns false, the message is skipped.
	Room func(bytes int) bool

	// Limit, if set, returns the current maximum message size in bytes. It replaces the limit given
	// to NewReader.
	Limit func() int
}

func (r *Reader) limit() int {
	if r.Limit != nil {
		return r.Limit()
	}
	return r.max
}

// NewReader returns a Reader for messages of at most maxBytes each.
func NewReader(r io.Reader, framing Framing, maxBytes int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), framing: framing, max: maxBytes}
}

// A TooLongError reports a message that was over the size limit or that Room rejected. The message
// has been skipped, and the Reader can continue.
type TooLongError struct {
	ID     ID    // the message's id; zero: none, or unknown
	IsCall bool  // the message has a method: it is a request or a notification
	Size   int64 // in bytes
	Limit  int
	NoRoom bool // within the limit, but Room rejected it
}

func (e *TooLongError) Error() string {
	if e.NoRoom {
		return fmt.Sprintf("there is no room for a message of %d bytes", e.Size)
	}
	return fmt.Sprintf("message of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// Next returns the next message without surrounding white space. The caller owns the returned
// slice. Next skips messages that consist only of white space.
//
// A *TooLongError affects one message only; any other error ends the stream. The error is io.EOF if
// the stream ended between two messages. It is io.ErrUnexpectedEOF if the stream ended inside a
// message with a Content-Length. A last line without a line break is returned as a message; only
// parsing shows whether it is complete.
func (r *Reader) Next() ([]byte, error) {
	next := r.nextLine
	if r.framing == ContentLength {
		next = r.nextCounted
	}
	for {
		msg, err := next()
		r.hasRoom(0)
		if err != nil {
			return nil, err
		}
		if msg = rawjson.Trim(msg); len(msg) > 0 {
			return msg, nil
		}
	}
}

func (r *Reader) hasRoom(bytes int) bool { return r.Room == nil || r.Room(bytes) }

// Ragged reports whether the message that Next just returned was a last line without a line break.
// Such a message may be incomplete, because the stream ended while it was being written.
func (r *Reader) Ragged() bool { return r.ragged }

// nextLine returns the next line including its line break.
func (r *Reader) nextLine() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimRight(piece, " \t\r\n")) > r.limit() {
			return nil, r.skipLine(line, piece, err)
		}
		if cap(line)-len(line) < len(piece) {
			more := max(len(piece), len(line))
			if !r.hasRoom(len(line) + more) {
				return nil, r.skipLine(line, piece, err)
			}
			line = slices.Grow(line, more)
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			r.ragged = true
			return line, nil
		default:
			return line, err
		}
	}
}

// skipLine skips the rest of a line that is too long. line and piece have already been read; err
// came with piece.
func (r *Reader) skipLine(line, piece []byte, err error) error {
	var s skimmer
	_, _ = s.Write(line)
	size := int64(len(line))
	for {
		_, _ = s.Write(piece)
		size += int64(len(piece))
		if !errors.Is(err, bufio.ErrBufferFull) {
			// Any other error than the end of the line recurs at the next call.
			return r.tooLong(&s, size)
		}
		piece, err = r.in.ReadSlice('\n')
	}
}

// nextCounted returns the next message with a Content-Length header.
func (r *Reader) nextCounted() ([]byte, error) {
	length, err := r.readHeader()
	if err != nil {
		return nil, err
	}
	if length > int64(r.limit()) || !r.hasRoom(int(length)) {
		var s skimmer
		// If the stream ends here, the next call returns that error.
		_, _ = io.CopyN(&s, r.in, length)
		return nil, r.tooLong(&s, length)
	}
	msg := make([]byte, length)
	if _, err := io.ReadFull(r.in, msg); err != nil {
		return nil, atEnd(err, io.ErrUnexpectedEOF)
	}
	return msg, nil
}

// errHeader means that the start of the next message is unknown.
var errHeader = errors.New("malformed Content-Length header")

// readHeader reads up to the blank line that ends a header block and returns the Content-Length. It
// ignores other headers and anything else a server prints before the header.
func (r *Reader) readHeader() (int64, error) {
	length := int64(-1)
	for {
		line, err := r.in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil // far longer than the header we look for
			_, err = r.in.ReadSlice('\n')
		}
		if err != nil {
			if length >= 0 {
				err = atEnd(err, io.ErrUnexpectedEOF)
			}
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		name, value, _ := strings.Cut(text, ":")
		switch {
		case text == "" && line != nil && length >= 0:
			return length, nil
		case !strings.EqualFold(strings.TrimSpace(name), "Content-Length"):
		case length >= 0:
			return 0, errHeader
		default:
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				return 0, errHeader
			}
		}
	}
}

func (r *Reader) tooLong(s *skimmer, size int64) error {
	return &TooLongError{ID: s.ID(), IsCall: s.isCall, Size: size, Limit: r.limit(), NoRoom: size <= int64(r.limit())}
}

// atEnd replaces io.EOF with the given error.
func atEnd(err, name error) error {
	if errors.Is(err, io.EOF) {
		return name
	}
	return err
}
