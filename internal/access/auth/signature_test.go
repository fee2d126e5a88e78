package auth_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/secret"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

const robotSecret = "0123456789abcdef0123456789abcdef"

func signer(t *testing.T) *auth.Authenticator {
	t.Helper()
	set := auth.Default()
	set.HMAC = []auth.HMAC{{KeyID: "robot", Secret: secret.New(robotSecret), Tenant: "team-a", Roles: []string{"dev"}}}
	return authenticator(t, auth.Options{Settings: set})
}

// signed returns a valid signed request.
func signed(body, nonce string, at time.Time) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/x?b=2&a=%31", strings.NewReader(body))
	sum := sha256.Sum256([]byte(body))
	s := access.Signed{
		Timestamp: strconv.FormatInt(at.Unix(), 10), Nonce: nonce, Method: http.MethodPost, Path: "/api/x", Query: "b=2&a=%31",
		BodyHash: hex.EncodeToString(sum[:]),
	}
	for name, value := range map[string]string{
		"X-Secateur-Key": "robot", "X-Secateur-Timestamp": s.Timestamp, "X-Secateur-Nonce": nonce, "X-Secateur-Content-SHA256": s.BodyHash,
		"X-Secateur-Signature": s.Sign(secret.New(robotSecret)),
	} {
		r.Header.Set(name, value)
	}
	return r
}

const nonce = "nonce-0123456789"

func TestSignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			rule  string
			edit  func(*http.Request)
			off   time.Duration
			cause access.Cause
		}{
			{rule: "good"},
			{rule: "signature in capitals", edit: func(r *http.Request) {
				r.Header.Set("X-Secateur-Signature", strings.ToUpper(r.Header.Get("X-Secateur-Signature")))
			}},
			{rule: "parts of the query in another order", edit: func(r *http.Request) { r.RequestURI, r.URL.RawQuery = "/api/x?a=%31&b=2", "a=%31&b=2" }},
			{rule: "a second signature", edit: func(r *http.Request) { r.Header.Add("X-Secateur-Signature", "00") }, cause: access.CauseInvalid},
			{rule: "a second key", edit: func(r *http.Request) { r.Header.Add("X-Secateur-Key", "other") }, cause: access.CauseInvalid},
			{rule: "a second hash", edit: func(r *http.Request) { r.Header.Add("X-Secateur-Content-Sha256", strings.Repeat("0", 64)) }, cause: access.CauseInvalid},
			{rule: "a token beside it", edit: func(r *http.Request) { r.Header.Set("X-Secateur-Token", "whatever") }},
			{rule: "two tokens beside it", edit: func(r *http.Request) { r.Header["X-Secateur-Token"] = []string{"a", "b"} }, cause: access.CauseInvalid},
			{rule: "five minutes late", off: -300 * time.Second},
			{rule: "more than that", off: -301 * time.Second, cause: access.CauseExpired},
			{rule: "more than that early", off: 301 * time.Second, cause: access.CauseExpired},
			{rule: "another method", edit: func(r *http.Request) { r.Method = http.MethodPut }, cause: access.CauseInvalid},
			{rule: "another path", edit: func(r *http.Request) { r.RequestURI = "/api/y?b=2&a=%31" }, cause: access.CauseInvalid},
			{rule: "the same path otherwise written", edit: func(r *http.Request) { r.RequestURI = "/api/%78?b=2&a=%31" }, cause: access.CauseInvalid},
			{rule: "another query", edit: func(r *http.Request) { r.RequestURI = "/api/x?b=2&a=1" }, cause: access.CauseInvalid},
			{rule: "another time", edit: func(r *http.Request) {
				r.Header.Set("X-Secateur-Timestamp", strconv.FormatInt(time.Now().Unix()+1, 10))
			}, cause: access.CauseInvalid},
			{rule: "another nonce", edit: func(r *http.Request) { r.Header.Set("X-Secateur-Nonce", nonce+"x") }, cause: access.CauseInvalid},
			{rule: "another key", edit: func(r *http.Request) { r.Header.Set("X-Secateur-Key", "other") }, cause: access.CauseInvalid},
			{rule: "another hash", edit: func(r *http.Request) { r.Header.Set("X-Secateur-Content-SHA256", strings.Repeat("0", 64)) }, cause: access.CauseInvalid},
			{rule: "no hash", edit: func(r *http.Request) { r.Header.Del("X-Secateur-Content-SHA256") }, cause: access.CauseInvalid},
		} {
			a := signer(t)
			time.Sleep(time.Hour) // the process has been running for long
			r := signed(`{"a":1}`, nonce, time.Now().Add(c.off))
			if c.edit != nil {
				c.edit(r)
			}
			p, v := a.Authenticate(r)
			if (p != nil) != (c.cause == "") || v.Cause != c.cause {
				t.Errorf("%s: %+v, %q, want %q", c.rule, p, v.Cause, c.cause)
			}
			if p != nil && (p.Issuer != "hmac" || p.Subject != "robot" || p.Tenant != "team-a") {
				t.Errorf("%s: %+v", c.rule, p)
			}
		}
	})
}

func TestSignatureIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := signer(t)
		time.Sleep(time.Minute)
		began := time.Now()
		send := func() access.Cause {
			_, v := a.Authenticate(signed("x", nonce, time.Now()))
			return v.Cause
		}
		if cause := send(); cause != "" {
			t.Fatal(cause)
		}
		for time.Since(began) < 600*time.Second {
			if cause := send(); cause != access.CauseReplayed {
				t.Fatalf("after %v: %q, want replayed", time.Since(began), cause)
			}
			time.Sleep(59 * time.Second)
		}
	})
}

func TestBodyThatWasNotSigned(t *testing.T) {
	for _, length := range []int64{7, -1} {
		a := signer(t)
		r := signed(`{"a":1}`, nonce, justNow())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"a":2}`)), length
		if _, v := a.Authenticate(r); v.Kind != access.Allowed {
			t.Fatal(v)
		}
		got, err := io.ReadAll(r.Body)
		// with a known length, the last bytes are withheld
		if err == nil || length > 0 && len(got) == 7 {
			t.Errorf("length %d: read %q, %v; want an error", length, got, err)
		}
	}
	a := signer(t)
	r := signed(`{"a":1}`, nonce, justNow())
	if _, v := a.Authenticate(r); v.Kind != access.Allowed {
		t.Fatal(v)
	}
	if got, err := io.ReadAll(r.Body); err != nil || string(got) != `{"a":1}` {
		t.Errorf("the right body: %q, %v", got, err)
	}
}

func TestNoBodyNeedsTheHashOfNothing(t *testing.T) {
	a := signer(t)
	r := signed(`{"a":1}`, nonce, justNow())
	r.Body, r.ContentLength = http.NoBody, 0
	if p, _ := a.Authenticate(r); p != nil {
		t.Error("a body that was left out goes unnoticed")
	}
	if p, v := a.Authenticate(signed("", "nonce-of-nothing", justNow())); p == nil {
		t.Error(v)
	}
}

// justNow returns a valid signing time for a process that has just started.
func justNow() time.Time { return time.Now().Add(time.Second) }

// Without a store, nonces from before a restart are forgotten, so signatures from that time are
// refused.
func TestSignatureFromBeforeTheStartIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := func(a *auth.Authenticator, nonce string, at time.Time) access.Cause {
			_, v := a.Authenticate(signed("{}", nonce, at))
			return v.Cause
		}
		before := signer(t)
		time.Sleep(time.Minute)
		used := time.Now()
		if got := cause(before, nonce, used); got != "" {
			t.Fatalf("a good signature: %q", got)
		}
		after := signer(t) // within the same second
		for _, wait := range []time.Duration{0, time.Second, 2 * time.Minute} {
			time.Sleep(wait)
			if got := cause(after, nonce, used); got != access.CauseExpired {
				t.Errorf("used before the restart, shown again %v later: %q, want expired", time.Since(used), got)
			}
		}
		made := time.Now()
		if got := cause(after, nonce+"2", made); got != "" {
			t.Errorf("a signature made since the start: %q", got)
		}
		set := auth.Default()
		set.HMAC = []auth.HMAC{{KeyID: "robot", Secret: secret.New(robotSecret)}}
		time.Sleep(time.Second)
		reloaded := authenticator(t, auth.Options{Settings: set, Replaces: after})
		if got := cause(reloaded, nonce+"3", made); got != "" {
			t.Errorf("a reload is no restart: %q", got)
		}
		if got := cause(reloaded, nonce+"2", made); got != access.CauseReplayed {
			t.Errorf("used before the reload: %q, want replayed", got)
		}
	})
}

// A signature used at one replica is used for all. Without the store, none is accepted.
func TestReplicasShareNonces(t *testing.T) {
	server := redistest.Start(t)
	replica := func() *auth.Authenticator {
		db, err := redisdb.Open(t.Context(), redisdb.Options{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		set := auth.Default()
		set.HMAC = []auth.HMAC{{KeyID: "robot", Secret: secret.New(robotSecret)}}
		a := authenticator(t, auth.Options{Settings: set, Redis: db})
		a.Wait()
		return a
	}
	a, b := replica(), replica()
	for _, c := range []struct {
		rule  string
		who   *auth.Authenticator
		nonce string
		cause access.Cause
	}{
		{"the first to see it", a, nonce, ""},
		{"another replica", b, nonce, access.CauseReplayed},
		{"the same again", a, nonce, access.CauseReplayed},
		{"another nonce", b, nonce + "2", ""},
	} {
		if _, v := c.who.Authenticate(signed("{}", c.nonce, time.Now())); v.Cause != c.cause {
			t.Errorf("%s: %q, want %q", c.rule, v.Cause, c.cause)
		}
	}
	server.Kill()
	if _, v := a.Authenticate(signed("{}", nonce+"3", time.Now())); v.Cause != access.CauseInvalid {
		t.Errorf("without the store: %q, want it refused", v.Cause)
	}
}

// An attempt whose response was lost has used the nonce. The retry of the same request is not a
// replay.
func TestALostAnswerOfTheStoreIsNoReplay(t *testing.T) {
	server := redistest.Start(t)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	lost := loseOneAnswer(t, at.Path)
	at.Scheme, at.Host, at.Path = "redis", lost.addr, ""
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: at.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	set := auth.Default()
	set.HMAC = []auth.HMAC{{KeyID: "robot", Secret: secret.New(robotSecret)}}
	a := authenticator(t, auth.Options{Settings: set, Redis: db})
	a.Wait()
	if p, v := a.Authenticate(signed("{}", nonce, time.Now())); p == nil {
		t.Errorf("the answer to the first attempt was lost: %+v", v)
	}
	if !lost.done.Load() {
		t.Error("no answer was lost")
	}
	b := authenticator(t, auth.Options{Settings: set, Redis: db})
	b.Wait()
	if _, v := b.Authenticate(signed("{}", nonce, time.Now())); v.Cause != access.CauseReplayed {
		t.Errorf("another replica: %+v, want replayed", v)
	}
}

// lossy is a connection to a store that loses the response to the first SET … NX.
type lossy struct {
	addr string
	done atomic.Bool
}

func loseOneAnswer(t *testing.T, to string) *lossy {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{addr: ln.Addr().String()}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(client, to) })
		}
	})
	return l
}

func (l *lossy) carry(client net.Conn, to string) {
	var there sync.WaitGroup
	defer there.Wait()
	defer client.Close()
	store, err := (&net.Dialer{}).Dial("unix", to)
	if err != nil {
		return
	}
	defer store.Close()
	var lose atomic.Bool
	there.Go(func() {
		defer store.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if err != nil {
				return
			}
			if bytes.Contains(bytes.ToUpper(buf[:n]), []byte("\r\nNX\r\n")) && l.done.CompareAndSwap(false, true) {
				lose.Store(true)
			}
			if _, err := store.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := store.Read(buf)
		if err != nil || lose.Load() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
