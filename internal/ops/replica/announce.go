package replica

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

const (
	announceEvery = 5 * time.Second
	announceLife  = 15 * time.Second
	announceTime  = 2 * time.Second // timeout of one announcement
)

// ID identifies a replica, also across runs.
type ID [8]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Options configure a Group.
type Options struct {
	DB *redisdb.DB
	// Leaf returns the listener's certificate in DER. If it is nil or returns nil, the listener
	// speaks plain HTTP.
	Leaf func() []byte
	// Own returns that certificate with its key, as a client certificate for replicas with the same
	// one that demand it. They are addressed by ServerName. nil: none.
	Own        func() *tls.Certificate
	ServerName string
	// State returns the state of this replica, to be shown by all replicas; nil: not announced.
	State func() State
	// Heard receives the others' news, one at a time. Missed is called if news may have been lost.
	// nil: ignored.
	Heard  func(context.Context, News)
	Missed func()
	Log    *slog.Logger // nil discards
}

// Group is this replica as a member of the group. It is safe for concurrent use; nil is a single
// replica.
type Group struct {
	opt     Options
	id      ID
	name    string
	secret  [32]byte
	address string // host:port for other replicas; set before the first announcement
	client  *http.Client
	news    chan News // to be sent
	counts  counts
}

// New returns a Group. Announce and Run make it known to others.
func New(opt Options) *Group {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	g := &Group{opt: opt, client: newClient(opt), news: make(chan News, maxNews)}
	_, _ = rand.Read(g.id[:]) // never fails
	_, _ = rand.Read(g.secret[:])
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "replica"
	}
	g.name = host + "-" + g.id.String()[:6]
	return g
}

// ID returns this replica's id, or the zero ID for a single replica.
func (g *Group) ID() ID {
	if g == nil {
		return ID{}
	}
	return g.id
}

// Name returns this replica's name for people, or "" for a single replica.
func (g *Group) Name() string {
	if g == nil {
		return ""
	}
	return g.name
}

// announcement is what a replica publishes about itself.
type announcement struct {
	Name    string `json:"name"`
	Address string `json:"address"`        // host:port
	Secret  []byte `json:"secret"`         // signs requests to it
	Leaf    []byte `json:"leaf,omitempty"` // SHA-256 of its certificate; none: plain HTTP
	State   State  `json:"state"`
}

func announcementKey(id ID) string { return redisdb.Key("replica", id.String(), "") }

// AddressOf returns the address of a listener for other replicas: the configured one, else its own.
// For a listener on all interfaces, it uses the one that leads to the engine.
func AddressOf(ctx context.Context, configured string, listener net.Addr, db *redisdb.DB) string {
	if configured != "" {
		return configured
	}
	at, err := netip.ParseAddrPort(listener.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return listener.String()
	}
	local := db.LocalIP(ctx)
	if !local.IsValid() {
		local = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(local, at.Port()).String()
}

// Announce publishes this replica's address, before its doors open. If the engine does not answer,
// Run retries.
func (g *Group) Announce(ctx context.Context, address string) {
	g.address = address
	_ = g.announce(ctx)
}

func (g *Group) announce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	a := announcement{Name: g.name, Address: g.address, Secret: g.secret[:]}
	if g.opt.Leaf != nil {
		a.Leaf = digestOf(g.opt.Leaf())
	}
	if g.opt.State != nil {
		a.State = g.opt.State()
	}
	b, err := json.Marshal(a) //nolint:gosec // readers of the engine may read everything there
	if err != nil {
		return err
	}
	_, err = g.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, announcementKey(g.id), b, announceLife)
		g.enroll(ctx, p)
		return nil
	})
	return err
}

// Run renews the announcement until ctx is done, and then withdraws it. Meanwhile it sends and
// receives news.
func (g *Group) Run(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { g.publish(ctx) })
	if g.opt.Heard != nil {
		work.Go(func() { g.listen(ctx, func(n News) { g.opt.Heard(ctx, n) }, g.opt.Missed) })
	}
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
			defer cancel()
			_ = g.opt.DB.Del(last, announcementKey(g.id)).Err() // else it expires
			g.client.CloseIdleConnections()
			return nil
		case <-tick.C:
			_ = g.announce(ctx) // the engine's owner reports whether it answers
		}
	}
}

// ErrGone means that a replica is dead, or that its address cannot be looked up.
var ErrGone = errors.New("no such replica")

// find looks up a replica.
func (g *Group) find(ctx context.Context, id ID) (a announcement, err error) {
	b, err := g.opt.DB.Get(ctx, announcementKey(id)).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return a, ErrGone
	case err != nil:
		return a, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err := json.Unmarshal(b, &a); err != nil || a.Address == "" || len(a.Secret) != len(g.secret) {
		return a, ErrGone
	}
	return a, nil
}
