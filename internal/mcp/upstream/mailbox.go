package upstream

import (
	"sync"

	"secateur/internal/mcp/wire"
)

// mailbox holds notifications for a call's handler, in order, until the caller's goroutine takes them. Who reads the
// server's messages never waits for it.
type mailbox struct {
	mu    sync.Mutex
	ready chan struct{}   // guarded by mu; holds a token while there may be something in it; nil: nobody has waited yet
	msgs  []*wire.Message // guarded by mu
	bytes int             // guarded by mu; of msgs
}

// How much may wait for a caller that does not keep up; more is dropped.
const (
	mailboxRoom  = 16384
	mailboxBytes = 16 << 20
)

// signal holds a token when there may be something in it.
func (b *mailbox) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready == nil {
		b.ready = make(chan struct{}, 1)
		if len(b.msgs) > 0 {
			b.ready <- struct{}{}
		}
	}
	return b.ready
}

// offer puts a message in; false if there is no room.
func (b *mailbox) offer(msg *wire.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := len(b.msgs) < mailboxRoom && b.bytes < mailboxBytes
	if room {
		b.msgs = append(b.msgs, msg)
		b.bytes += len(msg.Raw)
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
	return room
}

// take gives all that is in it.
func (b *mailbox) take() []*wire.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	msgs := b.msgs
	b.msgs, b.bytes = nil, 0
	return msgs
}
