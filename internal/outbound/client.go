package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrPrivate means that an address named by a peer leads to a private network.
var ErrPrivate = errors.New("the address leads to a private network, which a peer may not name; see auth.private_networks")

const (
	dialTime     = 5 * time.Second
	maxRedirects = 5
)

// Client reaches public addresses, the networks given, and the host and port of the configured URLs themselves.
func Client(configured *url.URL, networks []netip.Prefix, also ...*url.URL) *http.Client {
	trusted := map[string]bool{hostPort(configured): true}
	for _, u := range also {
		if u != nil && u.Host != "" {
			trusted[hostPort(u)] = true
		}
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			d := net.Dialer{Timeout: dialTime}
			if !trusted[addr] {
				d.Control = func(_, address string, _ syscall.RawConn) error { return check(address, networks) }
			}
			return d.DialContext(ctx, network, addr)
		},
		ForceAttemptHTTP2: true, MaxIdleConns: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTime,
	}
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= maxRedirects:
			return errors.New("too many redirects")
		case r.URL.Scheme != "https" && !trusted[hostPort(r.URL)]:
			return errors.New("a redirect leads away from https")
		}
		return nil
	}}
}

// check refuses an address that has been resolved.
func check(address string, networks []netip.Prefix) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address: %w", err)
	}
	ip := at.Addr().Unmap()
	for _, n := range networks {
		if n.Contains(ip) {
			return nil
		}
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || isShared(ip) {
		return ErrPrivate
	}
	return nil
}

// shared are further networks that are not the internet: carrier-grade NAT, benchmarks, this network, translations of IPv4.
var shared = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
}

func isShared(ip netip.Addr) bool {
	for _, n := range shared {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}
