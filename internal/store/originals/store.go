package originals

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// What a store answers instead of doing what it was asked. Test with errors.Is; the error may say more.
var (
	// ErrNotFound means that this tenant has no such original: it was never kept, its time is over, or it is
	// another tenant's. Which of these is told where it is known, see below.
	ErrNotFound = errors.New("no such original")
	// ErrExpired is ErrNotFound for an original that is still to be seen, but whose time is over.
	ErrExpired = fmt.Errorf("%w: its time is over", ErrNotFound)
	// ErrDamaged is ErrNotFound for an original that was kept, and whose file no longer holds it.
	ErrDamaged = fmt.Errorf("%w: its file is damaged", ErrNotFound)
	// ErrFull means that there is no room, not even after dropping what may be dropped.
	ErrFull = errors.New("store of originals is full")
	// ErrTooLarge means that the text alone is larger than everything the store may hold.
	ErrTooLarge = errors.New("text is larger than the store of originals")
	// ErrUnavailable means that the store does not work at the moment, or not in time.
	ErrUnavailable = errors.New("store of originals is unavailable")
)

// Store keeps originals. Its methods may be called concurrently. Texts and tenants are any bytes: a store gives
// back exactly what it was given.
type Store interface {
	// ID is what Put would return: a function of the tenant, the text and the store's key.
	ID(tenant, text string) string
	// Put keeps the text for the tenant and returns its id, which is ID(tenant, text). It returns no error only
	// once Get would find the text. Putting a text that is kept already renews its time to live. Errors are
	// ErrFull, ErrTooLarge and ErrUnavailable, and in each of these cases the text must not be cut.
	Put(ctx context.Context, tenant, text string) (id string, err error)
	// Get returns the tenant's text with this id and renews its time to live. Errors are ErrNotFound and
	// ErrUnavailable.
	Get(ctx context.Context, tenant, id string) (text string, err error)
	// Stats tells what is kept now.
	Stats() Stats
}

// StoreCloser is a store that owns something: Close waits for what it has under way and lets go of it. Afterwards
// Put and Get answer ErrUnavailable. Close may be called more than once.
type StoreCloser interface {
	Store
	io.Closer
}

// The kinds of store.
const (
	KindMemory = "memory"
	KindFile   = "file"
	KindRedis  = "redis"
)

// Stats tells what a store holds and what it could not do. A store that is shared with other processes counts
// theirs as of its last look.
type Stats struct {
	Kind     string `json:"kind"`      // KindMemory, KindFile or KindRedis
	Count    int    `json:"count"`     // originals kept
	Bytes    int64  `json:"bytes"`     // room they take, with what keeping them costs
	MaxBytes int64  `json:"max_bytes"` // room there is
	Full     bool   `json:"full"`      // the last Put that found no room would find none now
	Down     bool   `json:"down"`      // the engine behind it does not answer: nothing can be kept
	Refused  int64  `json:"refused"`   // Puts that were not kept, for whatever reason
	Dropped  int64  `json:"dropped"`   // living originals that this process dropped to make room
	Corrupt  int64  `json:"corrupt"`   // originals found damaged and set aside
}
