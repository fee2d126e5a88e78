package capture

import (
	"slices"
	"sync"
	"time"

	"secateur/internal/access"
)

// Exchange is a redacted request and its response.
type Exchange struct {
	ExpiresAt time.Time
	Request   Payload
	Answer    Payload

	holder access.Holder
}

// Payload is the beginning of a body.
type Payload struct {
	Text  string `json:"text"`
	Bytes int64  `json:"bytes"`         // size of the whole body
	Cut   bool   `json:"cut"`           // the text is truncated
	Note  string `json:"note,omitzero"` // why there is no text; "": there is
}

// mostExchanges is the capacity of a Book. A caller beyond its share loses its own oldest exchange.
// If it has none, the oldest of all goes.
const mostExchanges = 256

// key names an exchange by owner and request id.
type key struct{ owner, request string }

// Book holds exchanges until they expire. The zero value is empty. It is safe for concurrent use.
type Book struct {
	mu    sync.Mutex // guards the fields below
	all   map[key]*Exchange
	share access.Share
	order []key // oldest first
	timer *time.Timer
}

// Find returns the exchange of a request to its owner.
func (b *Book) Find(owner, request string) (Exchange, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[key{owner, request}]
	if e == nil || !time.Now().Before(e.ExpiresAt) {
		return Exchange{}, false
	}
	return *e, true
}

// Clear removes everything.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.order, b.share = nil, nil, access.Share{}
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Close removes everything.
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
	if old := b.all[k]; old != nil { // clients choose request ids freely
		e.holder = old.holder
		b.all[k] = &e
		return
	}
	for !b.share.Take(e.holder, 1, mostExchanges) {
		b.drop(max(0, slices.IndexFunc(b.order, func(k key) bool { return b.all[k].holder == e.holder })))
	}
	b.all[k] = &e
	b.order = append(b.order, k)
	if len(b.order) == 1 {
		b.wakeIn(time.Until(e.ExpiresAt))
	}
}

// sweep removes expired exchanges.
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
		b.drop(0)
	}
}

// wakeIn schedules the next sweep. The caller holds mu.
func (b *Book) wakeIn(d time.Duration) {
	if b.timer == nil {
		b.timer = time.AfterFunc(d, b.sweep)
		return
	}
	b.timer.Reset(d)
}

// drop removes the i-th exchange in order. The caller holds mu.
func (b *Book) drop(i int) {
	k := b.order[i]
	b.share.Give(b.all[k].holder, 1)
	delete(b.all, k)
	b.order = slices.Delete(b.order, i, i+1)
}
