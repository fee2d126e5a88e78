package downstream

import (
	"context"
	"slices"
	"time"
)

// streamKind distinguishes the kinds of streams.
type streamKind int

const (
	transient streamKind = iota // for one request, lost with its connection
	resumable                   // for one request, can be resumed by the client
	// for a session, outside any request; drops the oldest message when full
	standing
	plainStanding // for a session over HTTP+SSE: all its messages
)

// keeps reports whether events have ids and are kept for a while after they were written.
func (k streamKind) keeps() bool { return k == resumable || k == standing }

// stream is a sequence of messages for a client, with the connections that may carry it. The newest
// connection does; the others take over when it breaks. All fields but the first three are guarded
// by the replay buffer's lock.
type stream struct {
	buffer *replayBuffer
	kind   streamKind
	number uint64 // 0 unless resumable

	frames  []*frame
	room    [1]*frame // storage for frames with one element
	first   uint64    // number of frames[0]
	sent    uint64    // number of the first unwritten message
	written time.Time // time of the last write
	done    bool      // nothing will be added
	lost    bool      // no client can read it any longer
	readers []*reader // the connections, newest last
	writing *reader   // the connection that is writing now
}

// reader is a connection that reads a stream.
type reader struct {
	wake  chan struct{} // holds a token when work may be pending
	ended bool          // guarded by the replay buffer's lock; replaced by newer connections
}

func newReader() *reader { return &reader{wake: make(chan struct{}, 1)} }

func (r *reader) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// maxReaders is the maximum number of connections per stream.
const maxReaders = 8

// heard reports whether a connection carries the stream.
func (s *stream) heard() bool {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	return len(s.readers) > 0
}

// put adds a message; false if it is lost.
func (s *stream) put(msg []byte) bool {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	if s.done || s.lost || s.buffer.closed {
		return false
	}
	for !s.buffer.hasRoom() {
		if s.kind != standing || len(s.frames) == 0 || s.writing != nil {
			return false
		}
		s.drop(1)
	}
	s.add(&frame{wire: appendEvent(make([]byte, 0, len(msg)+maxEventHead), s.nextEventID(), msg)})
	return true
}

// answer adds an answer, which always fits. A long answer that is about to be written is not
// copied.
func (s *stream) answer(a *Answer) {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	if s.done || s.lost || len(a.Body) == 0 || s.buffer.closed && len(s.readers) == 0 {
		a.free()
		return
	}
	s.buffer.forceRoom(s)
	s.add(newFrame(a, s.nextEventID(), len(s.readers) == 0))
}

// patientAnswer adds an answer once the buffer has space.
func (s *stream) patientAnswer(ctx context.Context, a *Answer) {
	for {
		s.buffer.mu.Lock()
		if s.done || s.lost || ctx.Err() != nil || s.buffer.hasRoom() {
			break
		}
		if s.buffer.room == nil {
			s.buffer.room = make(chan struct{})
		}
		room := s.buffer.room
		s.buffer.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
	defer s.buffer.mu.Unlock()
	if s.done || s.lost || ctx.Err() != nil || len(a.Body) == 0 {
		a.free()
		return
	}
	s.add(newFrame(a, s.nextEventID(), false))
}

// longBody is the size from which an answer is not copied behind its event's head.
const longBody = 32 << 10

// newFrame makes a frame of an answer, and releases the answer if the frame has a copy.
func newFrame(a *Answer, p eventID, copied bool) *frame {
	if !copied && len(a.Body) >= longBody && isOneLine(a.Body) {
		f := &frame{wire: appendEventHead(make([]byte, 0, maxEventHead), p), body: a.Body, release: a.Release}
		a.Release = nil
		return f
	}
	f := &frame{wire: appendEvent(make([]byte, 0, len(a.Body)+maxEventHead), p, a.Body)}
	a.free()
	return f
}

// free calls Release once.
func (a *Answer) free() {
	if a.Release != nil {
		a.Release()
		a.Release = nil
	}
}

// nextEventID returns the id for the next message; zero if events have no ids.
func (s *stream) nextEventID() eventID {
	if !s.kind.keeps() {
		return eventID{}
	}
	return eventID{s.number, s.end()}
}

// end returns the number of the next message.
func (s *stream) end() uint64 { return s.first + uint64(len(s.frames)) }

func (s *stream) add(f *frame) {
	s.frames = append(s.frames, f)
	s.buffer.count(1, f.size())
	s.rouse()
}

// rouse wakes the connection that carries the stream.
func (s *stream) rouse() {
	if n := len(s.readers); n > 0 {
		s.readers[n-1].rouse()
	}
}

// finish marks that nothing more will be added.
func (s *stream) finish() {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	s.conclude()
	s.buffer.tidy(s)
}

func (s *stream) conclude() {
	s.done = true
	for _, r := range s.readers {
		r.rouse()
	}
}

// position is how much of a stream a client has received.
type position struct {
	known bool   // the client has told; else it gets the unwritten messages
	last  uint64 // the last message it has
}

// attach adds a connection to the stream. It returns the number of the last message before those it
// will get. It fails if the client claims a message that does not exist.
func (s *stream) attach(r *reader, at position) (newest uint64, ok bool) {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	if at.known && at.last >= s.end() || s.lost {
		return 0, false
	}
	if at.known {
		s.sent, s.writing = max(at.last+1, s.first), nil
	}
	s.readers = append(s.readers, r)
	if len(s.readers) > maxReaders {
		s.readers[0].ended = true
		s.readers[0].rouse()
		s.readers = slices.Delete(s.readers, 0, 1)
	}
	return s.sent - 1, true
}

// isAll reports whether a client at this position has everything, and nothing will be added.
func (s *stream) isAll(at position) bool {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	return s.done && at.last+1 == s.end()
}

// detach removes a connection from the stream. If no client can return to it, the stream is
// dropped.
func (s *stream) detach(r *reader, mayReturn bool) {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	if s.writing == r {
		s.writing = nil
	}
	s.readers = slices.DeleteFunc(s.readers, func(o *reader) bool { return o == r })
	switch {
	case len(s.readers) > 0:
		s.rouse()
	case !mayReturn || s.buffer.closed && s.done:
		s.forget()
	default:
		for _, f := range s.frames[s.sent-s.first:] {
			f.own()
		}
		s.buffer.tidy(s)
	}
}

// take appends the frames that the connection must write now. over means that nothing is left to
// do.
func (s *stream) take(r *reader, frames []*frame) (_ []*frame, over bool) {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	switch {
	case r.ended || s.lost || s.done && s.sent == s.end():
		return frames, true
	case s.readers[len(s.readers)-1] != r || s.writing != nil && s.writing != r:
		return frames, false
	}
	for _, f := range s.frames[s.sent-s.first:] {
		f.using++
		frames = append(frames, f)
	}
	if len(frames) > 0 {
		s.writing = r
	}
	return frames, false
}

// wrote records the end of a write.
func (s *stream) wrote(r *reader, frames []*frame, err error) {
	now := time.Now()
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	for _, f := range frames {
		f.using--
		f.free()
	}
	if s.writing != r {
		return // the client returned on another connection and told its position
	}
	s.writing = nil
	if err != nil {
		return
	}
	s.sent += uint64(len(frames))
	s.written = now
	if !s.kind.keeps() || s.buffer.closed || s.buffer.isPressed() {
		s.drop(int(s.sent - s.first)) //nolint:gosec // at most maxFrames
	}
	s.rouse()
}

// drop removes the first n messages from the replay buffer. The caller holds the replay buffer's
// lock.
func (s *stream) drop(n int) {
	if n <= 0 {
		return
	}
	bytes := 0
	for _, f := range s.frames[:n] {
		bytes += f.size()
		f.dropped = true
		f.free()
	}
	s.frames = slices.Delete(s.frames, 0, n)
	if len(s.frames) == 0 {
		s.frames = nil
	}
	s.first += uint64(n)
	s.sent = max(s.sent, s.first)
	s.buffer.count(-n, -bytes)
}

// forget drops a stream. The caller holds the replay buffer's lock.
func (s *stream) forget() {
	s.lost = true
	s.drop(len(s.frames))
	s.buffer.streams = slices.DeleteFunc(s.buffer.streams, func(o *stream) bool { return o == s })
}
