package outbound

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	own := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "[2606:4700::1111]:443": true, "10.1.2.3:80": true,
		"127.0.0.1:80": false, "10.2.0.1:80": false, "192.168.1.1:80": false, "172.16.0.1:80": false, "169.254.169.254:80": false,
		"100.64.0.1:80": false, "0.0.0.0:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "198.18.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1]:80": false, "[fc00::1]:80": false, "[ff02::1]:80": false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:169.254.169.254]:80": false, "[64:ff9b::a9fe:a9fe]:80": false, "[2002:7f00:1::]:80": false,
		"[fec0::1]:80": false, "[2001:0:7f00:1::]:80": false, "[::169.254.169.254]:80": false, "192.0.0.192:80": false, "168.63.129.16:80": false,
		"168.63.129.17:80": true, "[2001:4860::1]:443": true, "nonsense": false,
	} {
		if err := check(address, own); (err == nil) != ok {
			t.Errorf("check(%s) = %v", address, err)
		}
	}
}

func TestClientReachesTheConfiguredAddressAndNoOtherPrivateOne(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	defer other.Close()
	named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "keys")
	}))
	defer named.Close()
	configured, err := url.Parse(named.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := Client(configured, nil)
	defer client.CloseIdleConnections()
	if res, err := client.Get(named.URL); err != nil {
		t.Errorf("the configured address: %v", err)
	} else {
		res.Body.Close()
	}
	if _, err := client.Get(other.URL); !errors.Is(err, ErrPrivate) {
		t.Errorf("another port of this machine: %v, want ErrPrivate", err)
	}
	if _, err := client.Get(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)); !errors.Is(err, ErrPrivate) {
		t.Errorf("by name: %v, want ErrPrivate", err)
	}
	if _, err := client.Get(named.URL + "/away"); err == nil {
		t.Error("a redirect leads to another port of this machine")
	}
	if res, err := Client(configured, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).Get(other.URL); err != nil {
		t.Errorf("a network that is allowed: %v", err)
	} else {
		res.Body.Close()
	}
}

// Plain http can be read and changed in transit. So an endpoint chosen by a peer must be https,
// except for the configured host and this machine.
func TestEndpointsThatAPeerNamesAreEncrypted(t *testing.T) {
	configured, err := url.Parse("http://intranet.example/mcp")
	if err != nil {
		t.Fatal(err)
	}
	client := Client(configured, []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")})
	plain, ok := client.Transport.(*onlyHTTPS)
	if !ok {
		t.Fatalf("the transport is %T", client.Transport)
	}
	for address, allowed := range map[string]bool{
		"https://id.example/token": true, "http://intranet.example/token": true, "http://intranet.example:80/token": true, "http://127.0.0.1:9/token": true,
		"http://localhost:9/token": true, "http://[::1]:9/token": true,
		"http://id.example/token": false, "http://intranet.example:8080/token": false, "http://10.0.0.1/token": false, "http://localhost.example/token": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := plain.check(u); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %t", address, err, allowed)
		}
	}
	if _, err := client.Get("http://id.example.invalid/token"); !errors.Is(err, ErrPlain) {
		t.Errorf("a request over http: %v, want ErrPlain", err)
	}
}
