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
	announceTime  = 2 * time.Second // for one announcement
)

// ID tells a replica from all others, of other runs too.
type ID [8]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Options make a Group.
type Options struct {
	DB *redisdb.DB
	// Leaf is the certificate that the listener shows, DER; nil, or one that gives nil: it speaks plain HTTP.
	Leaf func() []byte
	// Own is that certificate with its key, shown to replicas that have the same one and demand it, who are asked for by ServerName; nil: none is.
	Own        func() *tls.Certificate
	ServerName string
	// State is how this replica fares, for those who ask any of them; nil: nothing is said of it.
	State func() State
	// Heard gets the others' news, one after the other; Missed is called where some may have been lost. Nil: nobody wants to know.
	Heard  func(context.Context, News)
	Missed func()
	Log    *slog.Logger // nil discards
}

// Group is a replica among others. It may be used concurrently; nil is one that is alone.
type Group struct {
	opt     Options
	id      ID
	name    string
	secret  [32]byte
	address string // host:port at which others reach this one; set before the first announcement
	client  *http.Client
	news    chan News // to be told
	counts  counts
}

// New makes a Group. Announce and Run tell others of it.
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

// ID is this replica's; the zero ID of one that is alone.
func (g *Group) ID() ID {
	if g == nil {
		return ID{}
	}
	return g.id
}

// Name is what people call this replica; "" of one that is alone.
func (g *Group) Name() string {
	if g == nil {
		return ""
	}
	return g.name
}

// announcement is what a replica says of itself.
type announcement struct {
	Name    string `json:"name"`
	Address string `json:"address"`        // host:port
	Secret  []byte `json:"secret"`         // what is for it is signed with
	Leaf    []byte `json:"leaf,omitempty"` // SHA-256 of its certificate; none: plain HTTP
	State   State  `json:"state"`
}

func announcementKey(id ID) string { return redisdb.Key("replica", id.String(), "") }

// AddressOf is where others reach a listener on addr: at the one that was configured, else at its own. A listener on all interfaces is reached at the one
// that leads to the engine.
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

// Announce tells others where this replica is, before its doors open. Where the engine does not answer, Run does it later.
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
	b, err := json.Marshal(a) //nolint:gosec // who may read the engine may read all that is kept there
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

// Run announces this replica again and again, and takes that back in the end. It tells and hears news meanwhile.
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
			_ = g.announce(ctx) // whether the engine answers is told by its owner
		}
	}
}

// ErrGone means that a replica lives no more, or cannot be asked where it is.
var ErrGone = errors.New("no such replica")

// find asks where a replica is.
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
