package access_test

import (
	"testing"

	"secateur/internal/access"
)

func TestCheckSite(t *testing.T) {
	loopback := access.Policy{Listen: "127.0.0.1"}
	public := access.Policy{Listen: "0.0.0.0"}
	named := access.Policy{Listen: "127.0.0.1", Hosts: []string{"tools.example"}, Origins: []string{"https://app.example"}}
	post := func(host, origin, site string) access.Request {
		return access.Request{Host: host, Origin: origin, FetchSite: site}
	}
	for _, c := range []struct {
		rule   string
		policy access.Policy
		in     access.Request
		want   access.Kind
	}{
		{"the listener's address", loopback, post("127.0.0.1:8000", "", ""), access.Allowed},
		{"localhost, any port", loopback, post("localhost:9", "", ""), access.Allowed},
		{"localhost without port", loopback, post("LOCALHOST", "", ""), access.Allowed},
		{"the IPv6 loopback address", loopback, post("[::1]:8000", "", ""), access.Allowed},
		{"a foreign name is DNS rebinding", loopback, post("evil.example:8000", "", ""), access.Forbidden},
		{"a foreign name that begins like ours", loopback, post("127.0.0.1.evil.example", "", ""), access.Forbidden},
		{"a foreign name that begins with localhost", loopback, post("localhost.evil.example", "", ""), access.Forbidden},
		{"a foreign address on a loopback listener", loopback, post("10.0.0.1:8000", "", ""), access.Forbidden},
		{"no host at all", loopback, post("", "", ""), access.Forbidden},
		{"an address on a public listener", public, post("192.0.2.7:8000", "", ""), access.Allowed},
		{"a foreign name on a public listener", public, post("evil.example", "", ""), access.Forbidden},
		{"a name the file allows", named, post("Tools.Example:443", "", ""), access.Allowed},
		{"our own page", loopback, post("127.0.0.1:8000", "http://127.0.0.1:8000", "same-origin"), access.Allowed},
		{"our own page under another loopback name", loopback, post("127.0.0.1:8000", "http://localhost:8000", ""), access.Allowed},
		{"a page on another local port", loopback, post("127.0.0.1:8000", "http://127.0.0.1:3000", "same-site"), access.Forbidden},
		{"a page on the internet", loopback, post("127.0.0.1:8000", "https://evil.example", "cross-site"), access.Forbidden},
		{"a page of no origin", loopback, post("127.0.0.1:8000", "null", "cross-site"), access.Forbidden},
		{"an extension's page", loopback, post("127.0.0.1:8000", "chrome-extension://abc", ""), access.Forbidden},
		{"an origin the file allows", named, post("127.0.0.1:8000", "https://app.example", "cross-site"), access.Allowed},
		{"an origin that begins like an allowed one", named, post("127.0.0.1:8000", "https://app.example.evil", ""), access.Forbidden},
		{"a cross-site post without origin", loopback, post("127.0.0.1:8000", "", "cross-site"), access.Forbidden},
		{
			"a link clicked on another site", loopback,
			access.Request{ReadOnly: true, Host: "127.0.0.1:8000", FetchSite: "cross-site"},
			access.Allowed,
		},
	} {
		if got := c.policy.CheckSite(c.in); got.Kind != c.want {
			t.Errorf("%s: CheckSite(%+v) = %v %q, want %v", c.rule, c.in, got.Kind, got.Reason, c.want)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.1": true, "::1": true, "[::1]": true, "localhost": true, "a.localhost": true,
		"::ffff:127.0.0.1": true, "0.0.0.0": false, "": false, "::": false, "192.168.0.1": false, "example.com": false,
	} {
		if got := access.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v, want %v", host, got, want)
		}
	}
}
