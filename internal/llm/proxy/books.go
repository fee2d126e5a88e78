package proxy

import (
	"context"
	"sync"

	"secateur/internal/llm/chat"
)

// books keep the accounts of answers that are out, so that no answer's end waits for them.
type books struct {
	mu     sync.Mutex
	closed bool // guarded by mu; accounts are kept before their answers end
	jobs   sync.WaitGroup
}

// keep has a job done beside the handler; false: nobody would wait for it.
func (b *books) keep(job func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.jobs.Go(job)
	return true
}

// close returns when the accounts of all answers are kept.
func (b *books) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.jobs.Wait()
}

// pastOf finds what is known of a conversation; others are keys that will be asked for, too.
func (l *lane) pastOf(ctx context.Context, conv *chat.Conversation, others func(*chat.Conversation) []string) (chat.Past, error) {
	l.askAhead(ctx, conv, others)
	return l.recall(ctx, conv)
}
