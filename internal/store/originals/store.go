package originals

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Errors of a store. Use errors.Is: they may be wrapped.
var (
	// ErrNotFound means that this tenant has no such original. It was never stored, has expired, or
	// belongs to another tenant. The errors below say more if it is known.
	ErrNotFound = errors.New("no such original")
	// ErrExpired is ErrNotFound for an original that still exists but has expired.
	ErrExpired = fmt.Errorf("%w: its time is over", ErrNotFound)
	// ErrDamaged is ErrNotFound for an original whose file is damaged.
	ErrDamaged = fmt.Errorf("%w: its file is damaged", ErrNotFound)
	// ErrFull means that there is no room, even after eviction.
	ErrFull = errors.New("store of originals is full")
	// ErrTooLarge means that the text alone exceeds the store's limit.
	ErrTooLarge = errors.New("text is larger than the store of originals")
	// ErrUnavailable means that the store does not work at the moment, or not in time.
	ErrUnavailable = errors.New("store of originals is unavailable")
)

// Store keeps originals. It is safe for concurrent use. Texts and tenants are arbitrary bytes,
// which the store returns unchanged.
type Store interface {
	// ID returns the id that Put would return: a function of the tenant, the text and the store's
	// key.
	ID(tenant, text string) string
	// Put stores the text for the tenant and returns its id, which is ID(tenant, text). A nil error
	// guarantees that Get finds the text. Putting a stored text again renews its TTL. Errors are
	// ErrFull, ErrTooLarge and ErrUnavailable; after any of them the text must not be cut.
	Put(ctx context.Context, tenant, text string) (id string, err error)
	// Get returns the tenant's text with this id and renews its TTL. Errors are ErrNotFound and
	// ErrUnavailable.
	Get(ctx context.Context, tenant, id string) (text string, err error)
	// Stats returns the current counts.
	Stats() Stats
}

// StoreCloser is a Store with resources. Close waits for running calls and releases them.
// Afterwards Put and Get return ErrUnavailable. Close may be called more than once.
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

// Stats are the counts of a store. Data of other processes is counted as of the last scan.
type Stats struct {
	Kind     string `json:"kind"`      // KindMemory, KindFile or KindRedis
	Count    int    `json:"count"`     // stored originals
	Bytes    int64  `json:"bytes"`     // their size, with overhead
	MaxBytes int64  `json:"max_bytes"` // the limit
	Full     bool   `json:"full"`      // the last Put that found no room would still find none
	DiskFull bool   `json:"disk_full"` // the disk has no room, whatever the limit
	Down     bool   `json:"down"`      // the engine does not answer, so nothing can be stored
	Refused  int64  `json:"refused"`   // Puts that failed, for any reason
	Dropped  int64  `json:"dropped"`   // unexpired originals evicted by this process
	Corrupt  int64  `json:"corrupt"`   // damaged originals moved aside
}

// Hint says how a full store gets room again.
func (s Stats) Hint() string {
	switch {
	case s.DiskFull:
		return "free space on the disk of store.url, or set store.url to a directory on another disk"
	case s.Full:
		return "raise store.max_bytes, or set store.when_full = \"oldest\" to drop what was not used for longest"
	}
	return ""
}
