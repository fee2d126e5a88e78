package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/store/redisdb"

	"github.com/redis/go-redis/v9"
)

// nonces remembers used nonces, each for at least nonceLife and at most twice that.
type nonces struct {
	started int64       // Unix time of the process's start
	files   *nonceFiles // keeps nonces across restarts; nil: memory only

	mu        sync.Mutex // guards the fields below and files
	loaded    bool       // files were read
	forgotten bool       // nonces used before the start are unknown
	slot      int64      // current slot: Unix time / nonceLife
	now, old  map[nonceHash]struct{}
	share     access.Share // usage of now per caller
}

// nonceHash is the hash of a key id and a nonce.
type nonceHash [16]byte

const (
	nonceLife = 600 * time.Second // a timestamp is valid for 300 s before and after our clock
	// per slot; further signatures are refused, since a forgotten nonce could be replayed
	maxNonces = 1 << 19
)

// newNonces returns nonces kept in a state directory, or in memory if there is none. With a shared
// store no files are needed: the store remembers across restarts.
func newNonces(stateDir string, shared bool) *nonces {
	n := &nonces{started: time.Now().Unix()}
	switch {
	case shared:
	case stateDir == "":
		n.forgotten = true
	default:
		n.files = &nonceFiles{dir: filepath.Join(stateDir, "nonces")}
	}
	return n
}

// noncePatience is the timeout of the nonce store; tests change it. It allows for a slow store, or
// one that just lost its leader, and for one retry. Otherwise the sender would have to sign again,
// and wait as long.
const noncePatience = 10 * time.Second

// useNonce marks a caller's nonce as used, or returns why it may not be used. Either it was used
// before, here or at another replica, or that is unknown.
func (a *Authenticator) useNonce(ctx context.Context, p *access.Principal, nonce string, signed int64, at time.Time) access.Cause {
	sum := sha256.Sum256([]byte(p.Subject + "\x00" + nonce))
	hash := nonceHash(sum[:16])
	cause, err := a.nonces.use(access.HolderOf(p), hash, signed, at)
	if err != nil {
		a.opt.Log.WarnContext(ctx, "used nonces cannot be kept across restarts: check the state directory", "err", err)
	}
	if cause != "" {
		return cause
	}
	if a.opt.Redis == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, a.noncePatience)
	defer cancel()
	key, use := redisdb.Key("n", hex.EncodeToString(hash[:]), ""), rand.Text()
	err = a.opt.Redis.SetArgs(ctx, key, use, redis.SetArgs{Mode: "NX", TTL: nonceLife}).Err()
	// the key exists, perhaps since our own attempt whose response was lost
	if errors.Is(err, redis.Nil) {
		var by string
		if by, err = a.opt.Redis.Get(ctx, key).Result(); err == nil && by != use {
			err = redis.Nil
		}
	}
	switch {
	case errors.Is(err, redis.Nil):
		return access.CauseReplayed
	case err != nil: // access fails closed
		a.opt.Log.WarnContext(ctx, "signature refused: nobody can tell whether another replica has seen it", "err", err)
		return access.CauseInvalid
	}
	return ""
}

// use marks a holder's nonce as used, or returns why it may not be used.
func (n *nonces) use(h access.Holder, nonce nonceHash, signed int64, at time.Time) (access.Cause, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.load(at)
	n.turn(at)
	if n.forgotten && signed <= n.started { // includes the second of the start
		return access.CauseExpired, err
	}
	_, used := n.now[nonce]
	_, before := n.old[nonce]
	switch {
	case used || before:
		return access.CauseReplayed, err
	case !n.share.Take(h, 1, maxNonces):
		return access.CauseTooMany, err
	}
	n.now[nonce] = struct{}{}
	if n.files != nil {
		if err := n.files.add(n.slot, nonce); err != nil { // access fails closed
			return access.CauseInvalid, err
		}
	}
	return "", err
}

// load reads the nonces from before the start at the first signature. If they cannot be read or
// kept, signatures from before the start are refused.
func (n *nonces) load(at time.Time) error {
	if n.loaded || n.files == nil {
		return nil
	}
	n.loaded, n.slot = true, slotOf(at)
	var failed [3]error
	n.old, failed[0] = n.files.read(n.slot - 1)
	n.now, failed[1] = n.files.read(n.slot)
	failed[2] = n.files.open(n.slot)
	err := errors.Join(failed[:]...)
	if err != nil {
		n.files, n.forgotten = nil, true
	}
	return err
}

// age forgets expired nonces.
func (n *nonces) age(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != nil {
		n.turn(at)
	}
}

// turn begins a new slot when the current one is over. It ignores a clock that is set back.
func (n *nonces) turn(at time.Time) {
	slot := slotOf(at)
	switch {
	case n.now != nil && slot <= n.slot:
		return
	case n.now != nil && slot == n.slot+1:
		n.old = n.now
	default:
		n.old = nil
	}
	n.now, n.share, n.slot = map[nonceHash]struct{}{}, access.Share{}, slot
}

func slotOf(at time.Time) int64 { return at.Unix() / int64(nonceLife/time.Second) }
