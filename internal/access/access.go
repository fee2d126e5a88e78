package access

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Policy says which hosts and origins an HTTP listener accepts.
type Policy struct {
	Listen  string   // the host part of the listener's address
	Hosts   []string // further names of the listener
	Origins []string // web origins that may call, besides the listener's own
}

// Request holds the parts of an HTTP request that a check needs.
type Request struct {
	ReadOnly  bool   // the method is GET, HEAD or OPTIONS
	Host      string // the Host header, with or without a port
	Origin    string // the Origin header; "": not a cross-origin call from a browser
	FetchSite string // the Sec-Fetch-Site header
}

// Verdict is the outcome of a check. The zero value lets the request through.
type Verdict struct {
	Kind   Kind
	Reason string // for people: the mistake and its fix

	Cause     Cause  // for Unauthorized: the cause in one word
	Way       Way    // for Unauthorized: the kind of credential
	Challenge string // for Unauthorized: the WWW-Authenticate header; "": the plain one
}

// Kind is the kind of a verdict.
type Kind int

// The kinds of verdict.
const (
	Allowed      Kind = iota
	Forbidden         // wrong host or origin: HTTP 403
	Unauthorized      // unknown caller: HTTP 401
	Overloaded        // no memory for another request: HTTP 503
	Guessing          // too many wrong credentials from this address: HTTP 429
)

// GuessWait is the number of seconds to wait after a Guessing verdict before the next attempt.
const GuessWait = 60

// Challenge is the WWW-Authenticate header for a caller without credentials.
const Challenge = `Bearer realm="secateur"`

// InvalidChallenge is the WWW-Authenticate header for a caller with an invalid credential.
const InvalidChallenge = Challenge + `, error="invalid_token"`

// MessageMayTell reports whether a token in the message may still identify the caller. Such a token
// takes precedence over the connection's certificate.
func (v Verdict) MessageMayTell() bool {
	return v.Kind == Unauthorized && (v.Cause == CauseMissing || v.Way == WayCertificate)
}

// Header returns the WWW-Authenticate header for an unauthorized caller.
func (v Verdict) Header() string {
	if v.Challenge == "" {
		return Challenge
	}
	return v.Challenge
}

// CheckSite refuses requests that a foreign web page could send.
func (p Policy) CheckSite(r Request) Verdict {
	host := hostOf(r.Host)
	if !p.knowsHost(host) {
		return Verdict{Kind: Forbidden, Reason: "host " + quote(r.Host) + " is not a name of this listener; " +
			"call it by its address, or add the name to allowed_hosts"}
	}
	if r.Origin != "" {
		if p.knowsOrigin(r.Origin, r.Host) {
			return Verdict{}
		}
		return Verdict{Kind: Forbidden, Reason: "origin " + quote(r.Origin) + " may not call this listener; " +
			"add it to allowed_origins if that page is yours"}
	}
	// Browsers omit Origin from simple navigations. Refuse those that change state.
	if !r.ReadOnly {
		switch r.FetchSite {
		case "", "same-origin", "none":
		default:
			return Verdict{Kind: Forbidden, Reason: "a page of another site may not call this listener"}
		}
	}
	return Verdict{}
}

// IsLoopback reports whether only this machine can reach a listener on host. An empty host means
// every address.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

func (p Policy) knowsHost(host string) bool {
	if host == "" {
		return false
	}
	if IsLoopback(host) || slices.ContainsFunc(p.Hosts, func(h string) bool { return strings.EqualFold(hostOf(h), host) }) {
		return true
	}
	if IsLoopback(p.Listen) {
		return false
	}
	if strings.EqualFold(host, p.Listen) {
		return true
	}
	// The owner of a name can point it here; an IP address cannot be forged that way.
	_, err := netip.ParseAddr(host)
	return err == nil
}

// knowsOrigin compares whole origins: another port on the same host belongs to another program.
func (p Policy) knowsOrigin(origin, host string) bool {
	for _, o := range p.Origins {
		if strings.EqualFold(strings.TrimSuffix(o, "/"), origin) {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return false
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	return IsLoopback(u.Hostname()) && IsLoopback(hostOf(host)) && u.Port() == portOf(host)
}

// hostOf strips the port, and the brackets of an IPv6 address.
func hostOf(hostport string) string {
	if rest, ok := strings.CutPrefix(hostport, "["); ok {
		host, _, _ := strings.Cut(rest, "]")
		return host
	}
	if strings.Count(hostport, ":") > 1 { // a bare IPv6 address
		return hostport
	}
	host, _, _ := strings.Cut(hostport, ":")
	return strings.TrimSuffix(host, ".")
}

func portOf(hostport string) string {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.HasSuffix(hostport, "]") {
		return ""
	}
	return hostport[i+1:]
}

func bearer(authorization string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(authorization), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// quote shortens and quotes a header value for an error message.
func quote(s string) string {
	const most = 80
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(clean) > most {
		clean = clean[:most] + "…"
	}
	return `"` + clean + `"`
}
