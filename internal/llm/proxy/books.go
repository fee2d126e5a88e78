package proxy

import (
	"context"
	"sync"

	"secateur/internal/llm/chat"
)

// books does the bookkeeping of finished responses, so that no response has to wait for it.
type books struct {
	mu     sync.Mutex
	closed bool // guarded by mu; then bookkeeping happens before the response ends
	jobs   sync.WaitGroup
}

// keep runs a job in the background; false: closed, run it yourself.
func (b *books) keep(job func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.jobs.Go(job)
	return true
}

// close waits for the bookkeeping of all responses.
func (b *books) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.jobs.Wait()
}

// pastOf finds what is known of a conversation. others returns further keys to prefetch.
func (l *lane) pastOf(ctx context.Context, conv *chat.Conversation, others func(*chat.Conversation) []string) (chat.Past, error) {
	l.askAhead(ctx, conv, others)
	return l.recall(ctx, conv)
}
