package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/redisdb"

	"github.com/redis/go-redis/v9"
)

// nonces remember what was used: for nonceLife at least, twice that at most.
type nonces struct {
	started int64 // Unix time since which nonces are remembered

	mu       sync.Mutex // guards the fields below
	now, old map[string]struct{}
	share    access.Share // of now
	since    time.Time
}

const (
	nonceLife = 600 * time.Second
	maxNonces = 1 << 19 // of each half; beyond it signatures are refused: forgetting one would let it be used again
)

// noncePatience is how long a signature waits for the store, unless a test has more time: longer than a store that is slow, or has just
// lost its leader, takes for an answer and for one more attempt. Its sender would have to sign again otherwise, and wait as long.
const noncePatience = 10 * time.Second

// useNonce says why a caller's nonce cannot be used: it was, here or by another replica, or nobody can tell, or it cannot be remembered.
// Without a store that outlives the process, the nonces of before its start are forgotten: signatures from before it, and from the
// second in which it started, are refused.
func (a *Authenticator) useNonce(ctx context.Context, p *access.Principal, nonce string, signed int64, at time.Time) access.Cause {
	if a.opt.Redis == nil && signed <= a.nonces.started {
		return access.CauseExpired
	}
	nonce = p.Subject + "\x00" + nonce
	if cause := a.nonces.use(access.HolderOf(p), nonce, at); cause != "" {
		return cause
	}
	if a.opt.Redis == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, a.noncePatience)
	defer cancel()
	sum := sha256.Sum256([]byte(nonce))
	key, use := redisdb.Key("n", hex.EncodeToString(sum[:16]), ""), rand.Text()
	err := a.opt.Redis.SetArgs(ctx, key, use, redis.SetArgs{Mode: "NX", TTL: nonceLife}).Err()
	if errors.Is(err, redis.Nil) { // it is there, maybe since an attempt of ours whose answer was lost
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

// use remembers a nonce of a holder, or says why it cannot be used.
func (n *nonces) use(h access.Holder, nonce string, at time.Time) access.Cause {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn(at)
	_, used := n.now[nonce]
	_, before := n.old[nonce]
	switch {
	case used || before:
		return access.CauseReplayed
	case !n.share.Take(h, 1, maxNonces):
		return access.CauseTooMany
	}
	n.now[nonce] = struct{}{}
	return ""
}

// age forgets what is old.
func (n *nonces) age(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn(at)
}

func (n *nonces) turn(at time.Time) {
	switch {
	case n.now == nil || at.Sub(n.since) >= 2*nonceLife:
		n.old = nil
	case at.Sub(n.since) >= nonceLife:
		n.old = n.now
	default:
		return
	}
	n.now, n.share, n.since = map[string]struct{}{}, access.Share{}, at
}
