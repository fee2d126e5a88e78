package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/ops/doctor"
	"secateur/internal/secret"
)

// want checks the first finding of a check.
func want(t *testing.T, c doctor.Check, level doctor.Level, part string) {
	t.Helper()
	found := c(t.Context())
	if len(found) == 0 || found[0].Level != level || !strings.Contains(found[0].Cause, part) || (level == doctor.Fail) != (found[0].Fix != "") && level != doctor.Warn {
		t.Errorf("found %+v, want %s with %q", found, level, part)
	}
}

func TestExamineKeepsTheOrder(t *testing.T) {
	second := make(chan struct{})
	say := func(subject string, level doctor.Level) []doctor.Finding {
		return []doctor.Finding{{Check: doctor.Port, Subject: subject, Level: level}}
	}
	told := 0
	r := doctor.Examine(t.Context(), []doctor.Check{
		func(context.Context) []doctor.Finding { <-second; return say("one", doctor.Warn) },
		func(context.Context) []doctor.Finding { close(second); return say("two", doctor.Fail) },
		func(context.Context) []doctor.Finding { return nil },
	}, func(n int) { told = n })
	if len(r.Findings) != 2 || r.Findings[0].Subject != "one" || r.OK || told != 3 || r.Count(doctor.Fail) != 1 {
		t.Errorf("report = %+v, told %d", r, told)
	}
	if r := doctor.Examine(t.Context(), nil, nil); !r.OK || r.Findings == nil {
		t.Errorf("nothing to check: %+v", r)
	}
}

func TestProvider(t *testing.T) {
	status, date := http.StatusOK, time.Now()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
	}))
	defer s.Close()
	key := secret.New("sk-of-this-test")
	check := func(key secret.Text) doctor.Check { return doctor.CheckProvider("p", s.URL+"/v1/", key, time.Now) }
	want(t, check(key), doctor.OK, "answers")
	if asked[0] != "GET /v1/models Bearer sk-of-this-test" {
		t.Errorf("asked %q: only what is free", asked)
	}
	for _, off := range []struct {
		by    time.Duration
		level doctor.Level
	}{{0, doctor.OK}, {30 * time.Second, doctor.OK}, {-2 * time.Minute, doctor.Warn}, {time.Hour, doctor.Fail}} {
		date = time.Now().Add(off.by)
		if found := check(key)(t.Context()); len(found) != 2 || found[1].Check != doctor.Clock || found[1].Level != off.level {
			t.Errorf("%s off: %+v, want %s", off.by, found, off.level)
		}
	}
	status = http.StatusUnauthorized
	want(t, check(key), doctor.Fail, "refuses the key")
	want(t, check(secret.Text{}), doctor.OK, "the client's own is passed on")
	status = http.StatusNotFound
	want(t, check(key), doctor.OK, "answers")
	status = http.StatusBadGateway
	want(t, check(key), doctor.Warn, "502")
	for _, f := range check(key)(t.Context()) {
		if strings.Contains(f.Cause+f.Fix, key.Reveal()) {
			t.Errorf("a finding has the key: %+v", f)
		}
	}
	s.Close()
	want(t, check(key), doctor.Fail, "refused")
}

// A provider's address may contain a key, which no finding shows.
func TestFindingsShowNoSecretOfAnAddress(t *testing.T) {
	status, path := http.StatusOK, ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { path = r.URL.String(); w.WriteHeader(status) }))
	defer s.Close()
	base := s.URL + "/v1?key=hunter2"
	for _, key := range []secret.Text{{}, secret.New("k")} {
		for _, status = range []int{200, 401, 403, 500} {
			for _, f := range doctor.CheckProvider("p", base, key, time.Now)(t.Context()) {
				if strings.Contains(f.Cause+f.Fix+f.Subject, "hunter2") {
					t.Errorf("HTTP %d: a finding has the key: %+v", status, f)
				}
			}
		}
	}
	if path != "/v1/models?key=hunter2" {
		t.Errorf("asked for %s", path)
	}
	s.Close()
	for _, address := range []string{base, "http://me:hunter2@127.0.0.1:1", "http://%zz?hunter2", "ftp://x?hunter2"} {
		for _, f := range doctor.CheckProvider("p", address, secret.Text{}, time.Now)(t.Context()) {
			if f.Level != doctor.Fail || strings.Contains(f.Cause+f.Fix, "hunter2") {
				t.Errorf("%s: %+v", address, f)
			}
		}
	}
}

func TestCertificate(t *testing.T) {
	now := time.Now()
	file := func(from, to time.Duration) string {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(from), NotAfter: now.Add(to)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "cert.pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	want(t, doctor.CheckCertificate(file(-day, 90*day), now), doctor.OK, "valid until")
	want(t, doctor.CheckCertificate(file(-day, 3*day), now), doctor.Warn, "expires on")
	want(t, doctor.CheckCertificate(file(-9*day, -day), now), doctor.Fail, "expired on")
	want(t, doctor.CheckCertificate(file(day, 9*day), now), doctor.Fail, "not valid before")
	want(t, doctor.CheckCertificate("/nowhere", now), doctor.Fail, "no such file")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, doctor.CheckCertificate(empty, now), doctor.Fail, "no certificate")
}

func TestPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	is := func(ours bool) func(context.Context) bool { return func(context.Context) bool { return ours } }
	want(t, doctor.CheckPort("127.0.0.1:0", is(false)), doctor.OK, "free")
	want(t, doctor.CheckPort(ln.Addr().String(), is(false)), doctor.Fail, "another program")
	want(t, doctor.CheckPort(ln.Addr().String(), is(true)), doctor.OK, "a secateur listens")
	want(t, doctor.CheckPort("192.0.2.1:80", is(false)), doctor.Fail, "")
}
