package redisdb

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errURL never repeats the URL, which may contain a password.
var errURL = errors.New("not a Redis URL: write redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, or unix://PATH")

// IsURL reports whether a store's URL is for this package.
func IsURL(s string) bool {
	scheme, _, ok := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "redis", "rediss", "unix":
		return ok
	}
	return false
}

// Check reports the mistake in a URL.
func Check(s string) error {
	_, err := parse(s)
	return err
}

// parse parses a URL as go-redis does. The parameter master_name selects Sentinel; cluster=true or
// a second address (addr) selects a Cluster. tls_ca, tls_cert and tls_key name files.
func parse(s string) (*redis.UniversalOptions, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "unix" && u.Host == "" || u.Scheme == "unix" && u.Path == "" {
		return nil, errURL
	}
	files, err := takeTLSFiles(u)
	if err != nil {
		return nil, err
	}
	opt, err := parseHosts(u)
	if err != nil {
		return nil, err
	}
	return opt, files.apply(opt.TLSConfig)
}

func parseHosts(u *url.URL) (*redis.UniversalOptions, error) {
	s, q := u.String(), u.Query()
	switch {
	case q.Get("master_name") != "":
		o, err := redis.ParseFailoverURL(s)
		if err != nil {
			return nil, errURL
		}
		return &redis.UniversalOptions{
			Addrs: o.SentinelAddrs, MasterName: o.MasterName, DB: o.DB, TLSConfig: o.TLSConfig,
			Username: o.Username, Password: o.Password, SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword,
			PoolSize: o.PoolSize, DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		}, nil
	case q.Has("addr") || q.Get("cluster") == "true":
		q.Del("cluster")
		u.RawQuery = q.Encode()
		o, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return nil, errURL
		}
		return &redis.UniversalOptions{
			Addrs: o.Addrs, IsClusterMode: true, TLSConfig: o.TLSConfig, Username: o.Username, Password: o.Password,
			PoolSize: o.PoolSize, DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		}, nil
	}
	o, err := redis.ParseURL(s)
	if err != nil {
		return nil, errURL
	}
	return &redis.UniversalOptions{
		Addrs: []string{o.Addr}, DB: o.DB, TLSConfig: o.TLSConfig, Username: o.Username, Password: o.Password,
		PoolSize: o.PoolSize, DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
	}, nil
}

// LocalIP returns this machine's address as the engine sees it, by the current routes. It returns
// the zero Addr if unknown, as for a socket.
func (db *DB) LocalIP(ctx context.Context) netip.Addr {
	if db.addr == "" || strings.HasPrefix(db.addr, "/") {
		return netip.Addr{}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", db.addr) // sends nothing
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = conn.Close() }()
	at, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
