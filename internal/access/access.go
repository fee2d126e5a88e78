package access

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Policy says whom an HTTP listener serves.
type Policy struct {
	Listen  string   // the host part of the listener's address
	Hosts   []string // further host names under which the listener is reached
	Origins []string // web origins that may call, beside the listener's own
}

// Request is what a decision needs to know of an HTTP request.
type Request struct {
	ReadOnly  bool   // its method changes nothing: GET, HEAD, OPTIONS
	Host      string // as the Host header gives it, with or without port
	Origin    string // empty: not sent, so not a browser's cross-origin call
	FetchSite string // Sec-Fetch-Site
}

// Verdict is the outcome of a check. The zero value lets the request through.
type Verdict struct {
	Kind   Kind
	Reason string // for a person: what was wrong and what to do

	Cause     Cause  // Unauthorized: in one word
	Way       Way    // Unauthorized: what was shown
	Challenge string // Unauthorized: for the header WWW-Authenticate; "": the plain one
}

// Kind tells the refusals apart.
type Kind int

// The kinds of verdict.
const (
	Allowed      Kind = iota
	Forbidden         // wrong host or origin: HTTP 403
	Unauthorized      // nobody whom we know: HTTP 401
	Overloaded        // no memory for one more request: HTTP 503
	Guessing          // too many wrong credentials from this address: HTTP 429
)

// GuessWait is after how many seconds a caller whose verdict is Guessing may try again.
const GuessWait = 60

// Challenge is what an unauthorized caller is told in the header WWW-Authenticate.
const Challenge = `Bearer realm="secateur"`

// InvalidChallenge is the same where something was shown that is not good.
const InvalidChallenge = Challenge + `, error="invalid_token"`

// MessageMayTell reports whether a message may still tell who sends it: a token in it comes before the certificate of the connection.
func (v Verdict) MessageMayTell() bool {
	return v.Kind == Unauthorized && (v.Cause == CauseMissing || v.Way == WayCertificate)
}

// Header is what an unauthorized caller is told in the header WWW-Authenticate.
func (v Verdict) Header() string {
	if v.Challenge == "" {
		return Challenge
	}
	return v.Challenge
}

// CheckSite refuses what a web page of someone else's could send.
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
	// Browsers leave Origin out of simple navigations; nothing that changes state may ride on one.
	if !r.ReadOnly {
		switch r.FetchSite {
		case "", "same-origin", "none":
		default:
			return Verdict{Kind: Forbidden, Reason: "a page of another site may not call this listener"}
		}
	}
	return Verdict{}
}

// IsLoopback reports whether only this machine can reach a listener on host. An empty host means every address.
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
	// A name can be made to point here by whoever owns it, an address cannot.
	_, err := netip.ParseAddr(host)
	return err == nil
}

// knowsOrigin compares whole origins: another port on the same host is another program's page.
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

// hostOf strips the port and the brackets of an IPv6 address.
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

// quote shortens and quotes a header value for a message.
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
