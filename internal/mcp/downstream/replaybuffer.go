package downstream

// MCP, "Transports", Streamable HTTP: "Resumability and Redelivery". A replay buffer of sent
// messages.

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the messages kept for clients. They are checked before a message is added, so the
// message that exceeds one is the last.
const (
	maxFrames  = 256      // messages per session
	maxHeld    = 1 << 20  // bytes per session
	maxWritten = 64 << 20 // bytes of all sessions; above this, written messages are not kept
)

// linger is how long a message is kept after it was written, in case the connection broke before it
// arrived.
const linger = time.Minute

// replayBuffer holds the messages of a session's streams until they are written. It keeps them a
// little longer if a client may ask for them again.
type replayBuffer struct {
	inAll *atomic.Int64 // bytes in all replay buffers; nil: not counted

	mu sync.Mutex
	// guarded by mu, like all below; streams that may still be written to or read from
	streams []*stream
	numbers uint64        // number of streams so far
	frames  int           // in this buffer
	bytes   int           // their size
	closed  bool          // nothing is kept any longer
	room    chan struct{} // closed when something is dropped; nil: no waiter
}

// frame is a message as sent over the wire.
type frame struct {
	wire    []byte
	body    []byte // sent after wire and followed by eventTail; nil: wire is everything
	release func() // called when body is no longer needed; may be nil
	using   int    // number of connections writing it
	dropped bool   // removed from the replay buffer
}

func (f *frame) size() int { return len(f.wire) + len(f.body) }

// length returns the number of bytes on the wire.
func (f *frame) length() int {
	if f.body == nil {
		return len(f.wire)
	}
	return f.size() + len(eventTail)
}

// own copies the body for long storage, because it may be part of a larger buffer.
func (f *frame) own() {
	if f.release != nil && f.using == 0 {
		f.body = bytes.Clone(f.body)
		f.release()
		f.release = nil
	}
}

// free releases the body once it is unused.
func (f *frame) free() {
	if f.using == 0 && f.dropped && f.release != nil {
		f.release()
		f.release = nil
	}
}

// open opens a stream.
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

// number returns the number for a stream that is written before it is put into the replay buffer.
func (sh *replayBuffer) number() uint64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.numbers++
	return sh.numbers
}

// keep puts a finished stream into the replay buffer, in case the client did not receive it.
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

// find returns the stream with a number; nil: none, or already dropped. was reports whether it ever
// existed.
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

// hasRoom frees space if needed and reports whether any is available. The caller holds mu.
func (sh *replayBuffer) hasRoom() bool {
	for sh.frames >= maxFrames || sh.bytes >= maxHeld {
		if !sh.dropWritten() {
			return false
		}
	}
	return true
}

// dropWritten drops the oldest written message. The caller holds mu.
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

// forceRoom makes space for an answer by dropping older answers without a reader. The answer is
// added even if that is not enough. The caller holds mu.
func (sh *replayBuffer) forceRoom(s *stream) {
	for !sh.hasRoom() {
		i := slices.IndexFunc(sh.streams, func(o *stream) bool { return o != s && o.done && len(o.readers) == 0 && len(o.frames) > 0 })
		if i < 0 {
			return
		}
		sh.streams[i].forget()
	}
}

// tidy removes a stream that has nothing left. The caller holds mu.
func (sh *replayBuffer) tidy(s *stream) {
	if s.done && len(s.frames) == 0 && len(s.readers) == 0 {
		switch i := slices.Index(sh.streams, s); {
		case i == 0: // the usual case: nothing has to move
			sh.streams[0] = nil
			sh.streams = sh.streams[1:]
		case i > 0:
			sh.streams = slices.Delete(sh.streams, i, i+1)
		}
		if len(sh.streams) == 0 {
			sh.streams = nil // an idle session keeps no memory
		}
	}
}

// sweep drops messages that were written long enough ago. If the connection broke before everything
// was written, they are kept, because they may not have arrived.
func (sh *replayBuffer) sweep(now time.Time) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, s := range slices.Backward(sh.streams) {
		came := len(s.readers) > 0 || s.done && s.sent == s.end()
		if came && s.first < s.sent && now.Sub(s.written) >= linger {
			s.drop(int(s.sent - s.first)) //nolint:gosec // at most maxFrames
		}
		sh.tidy(s)
	}
}

// close drops written messages and keeps nothing from now on. Unfinished streams continue to their
// end.
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
		s.drop(int(s.sent - s.first)) //nolint:gosec // at most maxFrames
	}
}

// count adjusts the totals after messages were added, or dropped if negative. The caller holds mu.
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

// isPressed reports whether memory is too short to keep written messages.
func (sh *replayBuffer) isPressed() bool { return sh.inAll != nil && sh.inAll.Load() > maxWritten }
