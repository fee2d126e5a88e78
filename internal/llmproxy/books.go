package llmproxy

import (
	"context"
	"sync"

	"secateur/internal/chat"
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
	if !conv.HasResults() {
		return l.recallTalk(ctx, conv), nil
	}
	l.askAhead(ctx, conv, others)
	return l.recall(ctx, conv)
}

// recallTalk finds what was sent of a conversation that has nothing to cut. It is in memory alone.
func (l *lane) recallTalk(ctx context.Context, conv *chat.Conversation) (past chat.Past) {
	past.Alone = true
	for i, place := range conv.Places() {
		if i == maxPlaces || past.Record != nil {
			break
		}
		key := l.recordKey(place.Key)
		if i > 0 {
			past.Record = l.p.flights.find(ctx, key)
		}
		if past.Record == nil {
			past.Record = l.p.talks.find(key)
		}
		if past.Record == nil && past.Sibling == nil {
			past.Sibling = l.p.talks.find(l.lastKey(place.Key))
		}
	}
	if past.Record != nil {
		past.Touched = past.Record.Time
	}
	return past
}
