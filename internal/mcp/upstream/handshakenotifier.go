package upstream

import "context"

// handshakeNotifier tells of handshakes, one at a time. Handshakes that come while one is being told are told as one: whoever
// listens wants to know what the server is now.
type handshakeNotifier struct {
	tell   func(*Peer)      // nil: nobody wants to know
	newest chan *connection // has room for one, which is not told yet
}

func newHandshakeNotifier(tell func(*Peer)) handshakeNotifier {
	return handshakeNotifier{tell: tell, newest: make(chan *connection, 1)}
}

// note takes down that a connection has shaken hands. It does not wait.
func (o *handshakeNotifier) note(s *connection) {
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
func (o *handshakeNotifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-o.newest:
			o.tell(s.peer.Load())
		}
	}
}
