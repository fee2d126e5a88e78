package templates

import (
	"context"
	"sync"
)

// listener is a connection that gets notified of changes. Unread changes are merged, so that their
// number is bounded by that of the templates.
type listener struct {
	news chan struct{} // buffer of one: signals a change

	mu      sync.Mutex            // guards the fields below
	listed  bool                  // the list has changed
	changed map[*pattern]struct{} // templates whose resources have changed
}

// listen subscribes to changes until stop is called.
func (b *Book) listen() (l *listener, stop func()) {
	l = &listener{news: make(chan struct{}, 1), changed: map[*pattern]struct{}{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
	return l, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, l)
	}
}

// tell reports that the list and the resources of a template have changed; nil: only the list. The
// caller holds mu.
func (b *Book) tell(of *pattern) {
	for l := range b.listeners {
		l.note(true, of)
	}
}

// update reports that the resources of a template have changed. The caller holds mu.
func (b *Book) update(of *pattern) {
	for l := range b.listeners {
		l.note(false, of)
	}
}

func (l *listener) note(listed bool, of *pattern) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed = l.listed || listed
	if of != nil && len(l.changed) < maxUnheard {
		l.changed[of] = struct{}{}
	}
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// maxUnheard limits the unread changes of a connection. Normally they are read at once.
const maxUnheard = 4 * MaxTemplates

// next waits for a change.
func (l *listener) next(ctx context.Context) (listed bool, changed map[*pattern]struct{}, err error) {
	select {
	case <-ctx.Done():
		return false, nil, ctx.Err()
	case <-l.news:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	listed, changed = l.listed, l.changed
	l.listed, l.changed = false, map[*pattern]struct{}{}
	return listed, changed, nil
}
