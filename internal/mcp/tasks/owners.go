package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"secateur/internal/access"
)

// Records keep makers beyond a restart. To lose one is safe: the task is then nobody's.
type Records interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

// Key names a task in its server's own words.
type Key struct{ Server, Task string }

// Caller is who makes a task or asks for one.
type Caller struct {
	name  string
	known bool // it has said who it is
}

// CallerOf is the caller of a principal; of a session, by what tells it from others, where nobody has to say who they are.
func CallerOf(p *access.Principal, session string) Caller {
	known := p != nil && p.Issuer != access.IssuerNone
	if !known && session != "" {
		return Caller{name: "session " + session}
	}
	return Caller{"principal " + p.Key(), known}
}

// Owners remember who made which task. The zero value keeps them in memory alone; it may be used by many goroutines.
type Owners struct {
	Records Records // nil: makers are forgotten with the process

	mu    sync.Mutex // guards the fields below
	owner map[Key]string
	order []Key // oldest first; a ring once it is full
	next  int
}

// maxTasks is how many tasks are remembered in memory. The oldest is forgotten first.
const maxTasks = 16384

// Note remembers a task's maker. The first one stays: a server that gives out an id twice gives the second nothing.
func (o *Owners) Note(ctx context.Context, k Key, c Caller) {
	if _, known, err := o.ownerOf(ctx, k); known || err != nil {
		return // without knowing whose it is, it is nobody's
	}
	o.remember(k, c.name)
	if o.Records != nil && c.known {
		_ = o.Records.Put(ctx, recordKey(k), []byte(digest(c.name))) // without it the task is nobody's after a restart
	}
}

// Allows tells whether a caller may have to do with a task.
func (o *Owners) Allows(ctx context.Context, k Key, c Caller) bool {
	owner, known, err := o.ownerOf(ctx, k)
	switch {
	case err != nil:
		return false // access fails closed
	case !known:
		return !c.known
	}
	return owner == c.name || c.known && owner == digest(c.name)
}

// ownerOf is a task's maker: its name or, from a record, the digest of that.
func (o *Owners) ownerOf(ctx context.Context, k Key) (owner string, known bool, err error) {
	o.mu.Lock()
	owner, known = o.owner[k]
	o.mu.Unlock()
	if known || o.Records == nil {
		return owner, known, nil
	}
	kept, known, err := o.Records.Get(ctx, recordKey(k))
	return string(kept), known, err
}

func (o *Owners) remember(k Key, owner string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.owner[k]; known {
		return
	}
	if o.owner == nil {
		o.owner = map[Key]string{}
	}
	if len(o.order) < maxTasks {
		o.order = append(o.order, k)
	} else {
		delete(o.owner, o.order[o.next])
		o.order[o.next] = k
		o.next = (o.next + 1) % maxTasks
	}
	o.owner[k] = owner
}

func recordKey(k Key) string { return "task " + k.Server + " " + k.Task }

// digest is a maker's name as it is kept: records say nothing of who it is.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}
