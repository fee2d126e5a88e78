package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"secateur/internal/access"
)

// Records keep owners across restarts. Losing one is safe: the task then has no known owner.
type Records interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

// Key identifies a task by its server's own id.
type Key struct{ Server, Task string }

// Caller creates a task or asks for one.
type Caller struct {
	name  string
	known bool // it is authenticated
}

// CallerOf returns the caller for a principal. Without authentication it is the session, identified
// by a unique text.
func CallerOf(p *access.Principal, session string) Caller {
	known := p != nil && p.Issuer != access.IssuerNone
	if !known && session != "" {
		return Caller{name: "session " + session}
	}
	return Caller{"principal " + p.Key(), known}
}

// Owners records the owners of tasks. The zero value keeps them in memory only. It is safe for
// concurrent use.
type Owners struct {
	Records Records // nil: owners are forgotten with the process

	mu    sync.Mutex // guards the fields below
	owner map[Key]string
	order []Key // oldest first; a ring buffer once full
	next  int
}

// maxTasks limits the tasks in memory. The oldest is forgotten first.
const maxTasks = 16384

// Note records a task's owner. The first one stays: if a server issues an id twice, the second
// caller gets nothing.
func (o *Owners) Note(ctx context.Context, k Key, c Caller) {
	if _, known, err := o.ownerOf(ctx, k); known || err != nil {
		return // if the owner cannot be determined, none is recorded
	}
	o.remember(k, c.name)
	if o.Records != nil && c.known {
		// if this fails, the task has no known owner after a restart
		_ = o.Records.Put(ctx, recordKey(k), []byte(digest(c.name)))
	}
}

// Allows reports whether a caller may access a task.
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

// ownerOf returns a task's owner: its name or, from a record, the name's digest.
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

// digest returns an owner's name as stored, so that records do not reveal it.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}
