package upstream

import "context"

// openings tell of handshakes, one at a time. Handshakes that come while one is being told are told as one: whoever
// listens wants to know what the server is now.
type openings struct {
	tell   func(*Peer)   // nil: nobody wants to know
	newest chan *session // has room for one, which is not told yet
}

func newOpenings(tell func(*Peer)) openings {
	return openings{tell: tell, newest: make(chan *session, 1)}
}

// note takes down that a session has shaken hands. It does not wait.
func (o *openings) note(s *session) {
	if o.tell == nil {
		return
	}
	for {
		select {
		case o.newest <- s:
			return
		default:
		}
		select {
		case <-o.newest: // older, or the same
		default:
		}
	}
}

// run tells until ctx is done.
func (o *openings) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-o.newest:
			o.tell(s.peer.Load())
		}
	}
}
