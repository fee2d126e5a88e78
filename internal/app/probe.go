package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/secret"
	"secateur/internal/store/originals"
)

// Handshaken is the result of a handshake with one server.
type Handshaken struct {
	Name     string // the server's own name
	Protocol string
	Took     time.Duration
	Stderr   []string // the last lines of its standard error, also if it failed
	Starting bool     // it runs and has said nothing within startup_timeout: it may be installing itself
}

// Handshake starts one server alone, performs the handshake and stops it. It needs no running
// program.
func Handshake(ctx context.Context, opt Options, set upstream.Settings) (Handshaken, error) {
	gen := &generation{App: newApp(opt), cfg: opt.Config.Settings}
	up, err := gen.connect(set, pool.Connection{Capabilities: []byte(`{}`)}) //nolint:contextcheck // a server's output is logged for as long as it lives
	if err != nil {
		return Handshaken{}, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { _ = up.Run(life) })
	began := time.Now()
	peer, err := up.Peer(ctx)
	h := Handshaken{Took: time.Since(began)}
	if st := up.Status(); err != nil && st.State == upstream.Starting {
		h.Starting = st.Late
	}
	stop()
	running.Wait()
	h.Stderr = up.Stderr(stderrShown)
	if peer != nil {
		h.Name, h.Protocol = peer.ServerName, peer.Protocol
	}
	return h, err
}

// stderrShown is how many lines of a failed server are shown.
const stderrShown = 5

// ErrDiskFull means that the store would be kept in memory.
var ErrDiskFull = errors.New("there is no room on its disk, so what was cut is forgotten with a restart")

// CheckStore opens the configured store and looks something up in it. It returns the store's
// address.
func CheckStore(ctx context.Context, opt Options) (where string, err error) {
	a := newApp(opt)
	a.placeStore(ctx)
	where = secret.URL(a.cfg.Store.URL)
	before := a.cfg.Store.URL
	if a.store, err = a.openStore(); err != nil { //nolint:contextcheck // its log lines belong to no call
		return where, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if a.cfg.Store.URL != before {
		return where, ErrDiskFull
	}
	if _, err = a.store.Get(ctx, "", originals.ID("", "secateur doctor")); errors.Is(err, originals.ErrNotFound) {
		err = nil
	}
	if s := a.store.Stats(); err == nil && s.Full {
		return where, fmt.Errorf("it is full: %d of %d bytes, so nothing more is cut", s.Bytes, s.MaxBytes)
	}
	return where, err
}
