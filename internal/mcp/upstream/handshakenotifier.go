package upstream

import "context"

// handshakeNotifier reports handshakes one at a time. Handshakes during a report are merged into
// one, because only the server's current state matters.
type handshakeNotifier struct {
	tell   func(*Peer)      // nil: no observer
	newest chan *connection // buffer of one: the handshake not reported yet
}

func newHandshakeNotifier(tell func(*Peer)) handshakeNotifier {
	return handshakeNotifier{tell: tell, newest: make(chan *connection, 1)}
}

// note records that a connection completed its handshake. It does not block.
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

// run reports handshakes until ctx is done.
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
