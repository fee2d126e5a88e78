package downstream

import (
	"context"
	"slices"
	"time"
)

// streamKind tells the streams apart.
type streamKind int

const (
	transient     streamKind = iota // of one request, lost with its connection
	resumable                       // of one request, a client may come back to it
	standing                        // of a session, outside any request; the oldest goes where there is no room
	plainStanding                   // of a session over HTTP+SSE: all there is
)

// keeps tells whether events have ids and stay for a while after they were written.
func (k streamKind) keeps() bool { return k == resumable || k == standing }

// stream is a row of messages for a client, and the connections that may carry them. Of several the newest does; the
// others take its place when it breaks. All fields but the first three are guarded by the replay buffer's lock.
type stream struct {
	buffer *replayBuffer
	kind   streamKind
	number uint64 // 0 but for resumable ones

	frames  []*frame
	room    [1]*frame // for frames, while there is one
	first   uint64    // number of frames[0]
	sent    uint64    // number of the first message that has not been written
	written time.Time // when the last was
	done    bool      // nothing will be added
	lost    bool      // nobody can ever read it
	readers []*reader // the connections, the newest last
	writing *reader   // the one whose write is not over
}

// reader is a connection's claim on a stream.
type reader struct {
	wake  chan struct{} // holds a token when there may be something to do
	ended bool          // it has to make way; guarded by the replay buffer's lock
}

func newReader() *reader { return &reader{wake: make(chan struct{}, 1)} }

func (r *reader) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// maxReaders is how many connections may stand by for one stream.
const maxReaders = 8

// heard reports whether a connection carries the stream.
func (s *stream) heard() bool {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	return len(s.readers) > 0
}

// put adds a message and reports false where it is lost.
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

// answer adds an answer, for which there is always room. It is not copied if it is long and about to be written.
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

// patientAnswer adds an answer once there is room for it.
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

// longBody is from where on an answer is not copied behind its event's head.
const longBody = 32 << 10

// newFrame makes a frame of an answer, and releases it if the frame has a copy.
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

// free calls Release, once.
func (a *Answer) free() {
	if a.Release != nil {
		a.Release()
		a.Release = nil
	}
}

// nextEventID is that of the message to be added; the zero value where events have no ids.
func (s *stream) nextEventID() eventID {
	if !s.kind.keeps() {
		return eventID{}
	}
	return eventID{s.number, s.end()}
}

// end is the number of the message to be added.
func (s *stream) end() uint64 { return s.first + uint64(len(s.frames)) }

func (s *stream) add(f *frame) {
	s.frames = append(s.frames, f)
	s.buffer.count(1, f.size())
	s.rouse()
}

// rouse has the connection that carries the stream look at it.
func (s *stream) rouse() {
	if n := len(s.readers); n > 0 {
		s.readers[n-1].rouse()
	}
}

// finish says that nothing more will come.
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

// position is how far a client has come that wants a stream.
type position struct {
	known bool   // it has told; else it gets what nobody has got
	last  uint64 // the last message it has
}

// attach lets a connection carry the stream; the newest message is returned. It fails where the client has seen what
// never was.
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

// isAll tells whether a client at this position has all there ever will be.
func (s *stream) isAll(at position) bool {
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	return s.done && at.last+1 == s.end()
}

// detach takes a connection off the stream. If no client can come back to it, the stream is lost.
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

// take appends what the connection is to write now. Over means that nothing is left to be done.
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

// wrote notes the end of a write.
func (s *stream) wrote(r *reader, frames []*frame, err error) {
	now := time.Now()
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	for _, f := range frames {
		f.using--
		f.free()
	}
	if s.writing != r {
		return // the client came back on another connection and has told what it has
	}
	s.writing = nil
	if err != nil {
		return
	}
	s.sent += uint64(len(frames))
	s.written = now
	if !s.kind.keeps() || s.buffer.closed || s.buffer.isPressed() {
		s.drop(int(s.sent - s.first)) //nolint:gosec // no more than maxFrames
	}
	s.rouse()
}

// drop takes the first n messages out of the replay buffer. With the replay buffer's lock.
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

// forget gives up on a stream. With the replay buffer's lock.
func (s *stream) forget() {
	s.lost = true
	s.drop(len(s.frames))
	s.buffer.streams = slices.DeleteFunc(s.buffer.streams, func(o *stream) bool { return o == s })
}
