package capture

import (
	"sync"
	"time"
)

// Exchange is a request and its answer, redacted.
type Exchange struct {
	ExpiresAt time.Time
	Request   Payload
	Answer    Payload
}

// Payload is the beginning of a body.
type Payload struct {
	Text  string `json:"text"`
	Bytes int64  `json:"bytes"`         // how many passed
	Cut   bool   `json:"cut"`           // there was more than is kept
	Note  string `json:"note,omitzero"` // why there is no text; "": there is
}

// mostExchanges is how many a Book holds; the oldest makes room.
const mostExchanges = 256

// key names an exchange: whose it is, and its request's id.
type key struct{ owner, request string }

// Book holds exchanges until their time is over. The zero value is empty. It may be used by many goroutines.
type Book struct {
	mu    sync.Mutex // guards the fields below
	all   map[key]*Exchange
	order []key // the oldest first
	timer *time.Timer
}

// Find gives the exchange of a request, to its owner.
func (b *Book) Find(owner, request string) (Exchange, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[key{owner, request}]
	if e == nil || !time.Now().Before(e.ExpiresAt) {
		return Exchange{}, false
	}
	return *e, true
}

// Clear forgets all.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.order = nil, nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Close forgets all.
func (b *Book) Close() error {
	b.Clear()
	return nil
}

func (b *Book) put(owner, request string, e Exchange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[key]*Exchange{}
	}
	k := key{owner, request}
	if b.all[k] != nil { // a client names its requests as it likes
		b.all[k] = &e
		return
	}
	if len(b.order) >= mostExchanges {
		b.dropOldest()
	}
	b.all[k] = &e
	b.order = append(b.order, k)
	if len(b.order) == 1 {
		b.wakeIn(time.Until(e.ExpiresAt))
	}
}

// sweep forgets what is over.
func (b *Book) sweep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for len(b.order) > 0 {
		left := b.all[b.order[0]].ExpiresAt.Sub(now)
		if left > 0 {
			b.wakeIn(left)
			return
		}
		b.dropOldest()
	}
}

// wakeIn has what is over forgotten after a while. The lock is held.
func (b *Book) wakeIn(d time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(d, b.sweep)
		return
	}
	b.timer.Reset(d)
}

// dropOldest forgets the oldest. The lock is held.
func (b *Book) dropOldest() {
	delete(b.all, b.order[0])
	b.order = b.order[1:]
}
