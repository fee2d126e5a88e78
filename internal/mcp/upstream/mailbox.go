package upstream

import (
	"sync"

	"secateur/internal/mcp/wire"
)

// mailbox queues notifications for a call's handler until the caller's goroutine takes them. Adding
// one never blocks the goroutine that reads the server's messages.
type mailbox struct {
	mu sync.Mutex
	// guarded by mu; holds a token while msgs may not be empty; nil: not used yet
	ready chan struct{}
	msgs  []*wire.Message // guarded by mu
	bytes int             // guarded by mu; total size of msgs
}

// Limits for a caller that does not keep up. Further messages are dropped.
const (
	mailboxRoom  = 16384
	mailboxBytes = 16 << 20
)

// signal returns a channel that holds a token while the mailbox may not be empty.
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

// offer adds a message; false if the mailbox is full.
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

// take removes and returns all messages.
func (b *mailbox) take() []*wire.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	msgs := b.msgs
	b.msgs, b.bytes = nil, 0
	return msgs
}
