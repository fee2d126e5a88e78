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

// A Reader takes messages off a stream, one after the other. It is for one
// goroutine.
type Reader struct {
	in      *bufio.Reader
	framing Framing
	max     int
	ragged  bool // see Ragged

	// Room, where it is set, is told how many bytes a message is about to take while it is read, and 0 when it is read.
	// Where it says false the message is skipped.
	Room func(bytes int) bool

	// Limit, where it is set, is how many bytes a message may have at the moment, in the place of what the Reader was made with.
	Limit func() int
}

func (r *Reader) limit() int {
	if r.Limit != nil {
		return r.Limit()
	}
	return r.max
}

// NewReader returns a Reader of messages of at most maxBytes each.
func NewReader(r io.Reader, framing Framing, maxBytes int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), framing: framing, max: maxBytes}
}

// A TooLongError tells of a message over the size limit, or one that there was no room for. The message has been
// skipped; reading goes on behind it.
type TooLongError struct {
	ID     ID    // the message's, zero where it has none that can be told
	IsCall bool  // it has a method: a request or a notification, not a response
	Size   int64 // in bytes
	Limit  int
	NoRoom bool // it is not over the limit, but there was no room for it
}

func (e *TooLongError) Error() string {
	if e.NoRoom {
		return fmt.Sprintf("there is no room for a message of %d bytes", e.Size)
	}
	return fmt.Sprintf("message of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// Next returns the next message without the white space around it, which is the
// caller's to keep. Messages of nothing but white space are passed over.
//
// A *TooLongError concerns one message, any other error is the end of the stream:
// io.EOF where it ended between two messages, io.ErrUnexpectedEOF where it ended
// within one that has a length. A last line that lacks its line break is a message
// like any other; whether it is whole shows when it is parsed.
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

// Ragged tells whether the message that Next has just returned was a last line without its line break: one that was
// still being written when the stream ended may be only half there.
func (r *Reader) Ragged() bool { return r.ragged }

// nextLine returns the next line, its line break included.
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

// skipLine passes over the rest of a line that is too long: line and piece have
// been read of it, err came with the piece.
func (r *Reader) skipLine(line, piece []byte, err error) error {
	var s skimmer
	_, _ = s.Write(line)
	size := int64(len(line))
	for {
		_, _ = s.Write(piece)
		size += int64(len(piece))
		if !errors.Is(err, bufio.ErrBufferFull) {
			// An error that is not the end of the line comes again with the next call.
			return r.tooLong(&s, size)
		}
		piece, err = r.in.ReadSlice('\n')
	}
}

// nextCounted returns the next message that has a Content-Length.
func (r *Reader) nextCounted() ([]byte, error) {
	length, err := r.readHeader()
	if err != nil {
		return nil, err
	}
	if length > int64(r.limit()) || !r.hasRoom(int(length)) {
		var s skimmer
		// If the stream ends here, it does so again at the next call.
		_, _ = io.CopyN(&s, r.in, length)
		return nil, r.tooLong(&s, length)
	}
	msg := make([]byte, length)
	if _, err := io.ReadFull(r.in, msg); err != nil {
		return nil, atEnd(err, io.ErrUnexpectedEOF)
	}
	return msg, nil
}

// errHeader means that the place of the next message cannot be known.
var errHeader = errors.New("malformed Content-Length header")

// readHeader reads up to the blank line that ends a header block and returns the
// length it gives. Other headers, and whatever else a server may print before one,
// are passed over.
func (r *Reader) readHeader() (int64, error) {
	length := int64(-1)
	for {
		line, err := r.in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil // far too long for the header we look for
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

// atEnd gives an end of the stream another name.
func atEnd(err, name error) error {
	if errors.Is(err, io.EOF) {
		return name
	}
	return err
}
