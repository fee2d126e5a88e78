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

	"secateur/internal/access"
)

// ErrPrivate means that an address chosen by a peer leads to a private network.
var ErrPrivate = errors.New("the address leads to a private network, which a peer may not name; see auth.private_networks")

const (
	dialTime     = 5 * time.Second
	maxRedirects = 5
)

// ErrPlain means that an endpoint chosen by a peer is not https.
var ErrPlain = errors.New("a peer named an address over http, which others on the way can read and change; it must be https")

// Client returns an HTTP client for public addresses, the given networks, and the hosts of the
// configured URLs. Plain http is allowed only for configured URLs and loopback.
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
	encrypted := &onlyHTTPS{Transport: transport, trusted: trusted}
	return &http.Client{Transport: encrypted, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errors.New("too many redirects")
		}
		return encrypted.check(r.URL)
	}}
}

// onlyHTTPS refuses plain http to hosts that are neither configured nor loopback.
type onlyHTTPS struct {
	*http.Transport
	trusted map[string]bool
}

// RoundTrip sends a request if its address is allowed.
func (o *onlyHTTPS) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := o.check(r.URL); err != nil {
		return nil, err
	}
	return o.Transport.RoundTrip(r)
}

func (o *onlyHTTPS) check(u *url.URL) error {
	if u.Scheme == "https" || o.trusted[hostPort(u)] || access.IsLoopback(u.Hostname()) {
		return nil
	}
	return ErrPlain
}

// check refuses a resolved address in a private network.
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

// shared are further networks outside the internet: carrier-grade NAT, benchmarks, this network,
// protocol assignments, Azure's metadata service, site-local IPv6. It also has the IPv6 networks
// with an embedded IPv4 address: NAT64, 6to4, Teredo, IPv4-compatible.
var shared = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("::/96"),
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
