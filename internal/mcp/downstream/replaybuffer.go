package downstream

// MCP, "Transports", Streamable HTTP: "Resumability and Redelivery". A replay buffer of what was sent.

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what is held for clients. They are checked before a message is added: the one that passes a bound is the
// last.
const (
	maxFrames  = 256      // messages of one session
	maxHeld    = 1 << 20  // their bytes
	maxWritten = 64 << 20 // bytes held by all sessions, above which what has been written is not kept
)

// linger is how long a message stays after it was written: the connection may have broken with it on its way.
const linger = time.Minute

// replayBuffer holds what the streams of a session have to say until it is said, and a little longer where a client may ask
// for it again.
type replayBuffer struct {
	inAll *atomic.Int64 // bytes on all shelves; nil: not counted

	mu      sync.Mutex
	streams []*stream     // those that somebody may still write to or read from; guarded by mu, like all below
	numbers uint64        // of the streams so far
	frames  int           // in this buffer
	bytes   int           // their size
	closed  bool          // nothing is kept any more
	room    chan struct{} // closed when something leaves; nil: nobody waits for that
}

// frame is a message as it goes over the wire.
type frame struct {
	wire    []byte
	body    []byte // follows wire, and an eventTail follows it; nil: wire is all
	release func() // called when body is no longer needed; may be nil
	using   int    // connections that are writing it
	dropped bool   // out of the replay buffer
}

func (f *frame) size() int { return len(f.wire) + len(f.body) }

// length is how many bytes go over the wire.
func (f *frame) length() int {
	if f.body == nil {
		return len(f.wire)
	}
	return f.size() + len(eventTail)
}

// own makes the body one that can be kept for long: it may be part of something larger.
func (f *frame) own() {
	if f.release != nil && f.using == 0 {
		f.body = bytes.Clone(f.body)
		f.release()
		f.release = nil
	}
}

// free lets go of the body once nobody has it.
func (f *frame) free() {
	if f.using == 0 && f.dropped && f.release != nil {
		f.release()
		f.release = nil
	}
}

// open makes a stream.
func (sh *replayBuffer) open(kind streamKind) *stream {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.openLocked(kind)
}

func (sh *replayBuffer) openLocked(kind streamKind) *stream {
	s := &stream{buffer: sh, kind: kind, first: 1, sent: 1}
	if kind == resumable {
		sh.numbers++
		s.number = sh.numbers
	}
	sh.streams = append(sh.streams, s)
	return s
}

// number is that of a stream which is written before it is put into the replay buffer.
func (sh *replayBuffer) number() uint64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.numbers++
	return sh.numbers
}

// keep puts a stream that is over into the replay buffer, for a client that may not have got it.
func (sh *replayBuffer) keep(number uint64, frames []*frame, sent bool) {
	now := time.Now()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s := &stream{buffer: sh, kind: resumable, number: number, first: 1, sent: 1, written: now, done: true}
	s.frames = s.room[:0]
	sh.forceRoom(s)
	sh.streams = append(sh.streams, s)
	for _, f := range frames {
		if !sent {
			f.own()
		}
		s.add(f)
	}
	if sent {
		s.sent = s.end()
	}
	if sh.closed || sent && sh.isPressed() {
		s.forget()
	}
}

// find returns the stream with a number, nil if there is none or it has been forgotten, and whether there ever was one.
func (sh *replayBuffer) find(number uint64) (s *stream, was bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, s := range sh.streams {
		if s.number == number {
			return s, true
		}
	}
	return nil, number <= sh.numbers
}

// hasRoom makes room and reports whether there is any. With the caller's lock.
func (sh *replayBuffer) hasRoom() bool {
	for sh.frames >= maxFrames || sh.bytes >= maxHeld {
		if !sh.dropWritten() {
			return false
		}
	}
	return true
}

// dropWritten takes the oldest message that has been written out of the replay buffer. With the caller's lock.
func (sh *replayBuffer) dropWritten() bool {
	for _, s := range sh.streams {
		if s.first < s.sent {
			s.drop(1)
			sh.tidy(s)
			return true
		}
	}
	return false
}

// forceRoom makes room for an answer, which is taken in any case: at the cost of older answers that nobody came for.
// With the caller's lock.
func (sh *replayBuffer) forceRoom(s *stream) {
	for !sh.hasRoom() {
		i := slices.IndexFunc(sh.streams, func(o *stream) bool { return o != s && o.done && len(o.readers) == 0 && len(o.frames) > 0 })
		if i < 0 {
			return
		}
		sh.streams[i].forget()
	}
}

// tidy removes a stream that nothing is left of. With the caller's lock.
func (sh *replayBuffer) tidy(s *stream) {
	if s.done && len(s.frames) == 0 && len(s.readers) == 0 {
		switch i := slices.Index(sh.streams, s); {
		case i == 0: // mostly: nothing has to move
			sh.streams[0] = nil
			sh.streams = sh.streams[1:]
		case i > 0:
			sh.streams = slices.Delete(sh.streams, i, i+1)
		}
		if len(sh.streams) == 0 {
			sh.streams = nil // an idle session holds no memory for what it once had
		}
	}
}

// sweep drops what was written long enough ago, except where the connection broke before all was: what was on its way
// then may not have come through.
func (sh *replayBuffer) sweep(now time.Time) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, s := range slices.Backward(sh.streams) {
		came := len(s.readers) > 0 || s.done && s.sent == s.end()
		if came && s.first < s.sent && now.Sub(s.written) >= linger {
			s.drop(int(s.sent - s.first)) //nolint:gosec // no more than maxFrames
		}
		sh.tidy(s)
	}
}

// close drops what has been written and keeps nothing from now on. Streams that are not over go on to their end.
func (sh *replayBuffer) close() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.closed = true
	for _, s := range slices.Backward(sh.streams) {
		if s.kind == standing || s.kind == plainStanding {
			s.conclude()
		}
		if s.done && len(s.readers) == 0 {
			s.forget()
			continue
		}
		s.drop(int(s.sent - s.first)) //nolint:gosec // no more than maxFrames
	}
}

// count notes what was added or, negative, what left. With the caller's lock.
func (sh *replayBuffer) count(frames, bytes int) {
	sh.frames += frames
	sh.bytes += bytes
	if sh.inAll != nil {
		sh.inAll.Add(int64(bytes))
	}
	if frames < 0 && sh.room != nil {
		close(sh.room)
		sh.room = nil
	}
}

// isPressed tells whether there is no memory for what has already been written.
func (sh *replayBuffer) isPressed() bool { return sh.inAll != nil && sh.inAll.Load() > maxWritten }
