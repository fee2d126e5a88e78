package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
)

// authority is a certificate authority for tests.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	next int64
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, next: 1}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, SubjectKeyId: []byte(name),
	}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue creates a certificate for a name and writes it and its key below dir.
func (a *authority) issue(dir, file, uri string, expires time.Duration) (cert, key string, serial *big.Int) {
	a.t.Helper()
	a.next++
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(expires),
		DNSNames: []string{"localhost", file + ".example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			a.t.Fatal(err)
		}
		template.URIs = []*url.URL{u}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(dir, file+".pem", "CERTIFICATE", der), a.write(dir, file+"-key.pem", "PRIVATE KEY", raw), template.SerialNumber
}

func (a *authority) write(dir, name, kind string, der []byte) string {
	a.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func (a *authority) revoke(dir string, serials ...*big.Int) string {
	a.t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour)}
	for _, s := range serials {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: s, RevocationTime: time.Now()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(dir, "crl.pem", "X509 CRL", der)
}

func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	ca, stranger := newAuthority(t, "ours"), newAuthority(t, "theirs")
	serverCert, serverKey, _ := ca.issue(dir, "server", "", time.Hour)
	agentCert, agentKey, _ := ca.issue(dir, "agent", "spiffe://corp/agents/one", time.Hour)
	lostCert, lostKey, lost := ca.issue(dir, "lost", "spiffe://corp/agents/two", time.Hour)
	otherCert, otherKey, _ := ca.issue(dir, "other", "spiffe://corp/people/bob", time.Hour)
	oldCert, oldKey, _ := ca.issue(dir, "old", "spiffe://corp/agents/old", -time.Minute)
	wrongCert, wrongKey, _ := stranger.issue(dir, "wrong", "spiffe://corp/agents/one", time.Hour)
	caFile := ca.write(dir, "ca.pem", "CERTIFICATE", ca.cert.Raw)

	certs, err := auth.LoadCertificates(auth.TLS{Cert: serverCert, Key: serverKey, ClientCA: caFile, ClientCRL: ca.revoke(dir, lost)}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	set := auth.Default()
	set.Certificates = []auth.Certificate{{SAN: access.Globs{"spiffe://corp/agents/*"}, Tenant: "team-a", Roles: []string{"dev"}}}
	a := authenticator(t, auth.Options{Settings: set, Certificates: certs})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, v := a.Authenticate(r)
		if p == nil {
			http.Error(w, string(v.Cause), http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, p.Issuer+" "+p.Subject+" "+p.Tenant)
	}))
	server.TLS = certs.Config()
	server.StartTLS()
	defer server.Close()

	ask := func(cert, key string) string {
		config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
		config.RootCAs.AddCert(ca.cert)
		if cert != "" {
			pair, err := tls.LoadX509KeyPair(cert, key)
			if err != nil {
				t.Fatal(err)
			}
			// Sent even if the server would not want it.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		transport := &http.Transport{TLSClientConfig: config}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err != nil {
			return "refused"
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return string(body)
	}
	for _, c := range []struct{ rule, cert, key, want string }{
		{"a row matches", agentCert, agentKey, "mtls spiffe://corp/agents/one team-a"},
		{"no row, no principal", otherCert, otherKey, "invalid\n"},
		{"none", "", "", "missing\n"},
		{"another authority", wrongCert, wrongKey, "refused"},
		{"expired", oldCert, oldKey, "refused"},
		{"revoked", lostCert, lostKey, "refused"},
	} {
		if got := ask(c.cert, c.key); got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

// A listener that demands client certificates accepts another replica by the listener's own
// certificate, which is no caller's credential.
func TestAReplicaShowsTheListenersOwnCertificate(t *testing.T) {
	dir := t.TempDir()
	ca, others := newAuthority(t, "clients"), newAuthority(t, "servers")
	serverCert, serverKey, _ := others.issue(dir, "server", "spiffe://corp/agents/server", time.Hour)
	agentCert, agentKey, _ := ca.issue(dir, "agent", "spiffe://corp/agents/one", time.Hour)
	certs, err := auth.LoadCertificates(auth.TLS{
		Cert: serverCert, Key: serverKey, ClientCA: ca.write(dir, "ca.pem", "CERTIFICATE", ca.cert.Raw), ClientAuth: auth.ClientRequired,
	}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	set := auth.Default()
	set.Certificates = []auth.Certificate{{SAN: access.Globs{"spiffe://corp/agents/*"}}}
	a := authenticator(t, auth.Options{Settings: set, Certificates: certs})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := a.Authenticate(r)
		fmt.Fprint(w, auth.IsReplica(r), p != nil)
	}))
	server.TLS = certs.Config()
	server.StartTLS()
	defer server.Close()
	agent, err := tls.LoadX509KeyPair(agentCert, agentKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, name string
		shows      *tls.Certificate
		want       string
	}{
		{"a replica", auth.ReplicaName, certs.Own(), "true false"},
		{"a client who asks for the replicas' name", auth.ReplicaName, &agent, "refused"},
		{"nobody who does", auth.ReplicaName, &tls.Certificate{}, "refused"},
		{"a client", "localhost", &agent, "false true"},
		{"the listener's own as a client's", "localhost", certs.Own(), "refused"},
		{"nobody", "localhost", &tls.Certificate{}, "refused"},
	} {
		config := &tls.Config{InsecureSkipVerify: true, ServerName: c.name}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.shows, nil }
		transport := &http.Transport{TLSClientConfig: config}
		got := "refused"
		if res, err := (&http.Client{Transport: transport}).Get(server.URL); err == nil {
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			got = string(body)
		}
		transport.CloseIdleConnections()
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

// A replica's connection leaves no session ticket that could be resumed without its certificate.
func TestAReplicasConnectionIsNeverResumed(t *testing.T) {
	dir := t.TempDir()
	ca := newAuthority(t, "clients")
	cert, key, _ := newAuthority(t, "servers").issue(dir, "server", "", time.Hour)
	certs, err := auth.LoadCertificates(auth.TLS{
		Cert: cert, Key: key, ClientCA: ca.write(dir, "ca.pem", "CERTIFICATE", ca.cert.Raw), ClientAuth: auth.ClientRequired,
	}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = certs.Config()
	server.StartTLS()
	defer server.Close()
	config := &tls.Config{InsecureSkipVerify: true, ServerName: auth.ReplicaName, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certs.Own(), nil }
	for range 2 {
		transport := &http.Transport{TLSClientConfig: config}
		res, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		transport.CloseIdleConnections()
		if res.TLS.DidResume {
			t.Error("a connection of a replica was resumed")
		}
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	ca := newAuthority(t, "ours")
	cert, key, _ := ca.issue(dir, "server", "", time.Hour)
	certs, err := auth.LoadCertificates(auth.TLS{Cert: cert, Key: key}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	serial := func() string {
		config, err := certs.Config().GetConfigForClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.String()
	}
	before := serial()
	ca.issue(dir, "server", "", time.Hour)
	later := time.Now().Add(time.Minute) // file systems may have coarse timestamps
	for _, f := range []string{cert, key} {
		if err := os.Chtimes(f, later, later); err != nil {
			t.Fatal(err)
		}
	}
	certs.LookNow()
	if after := serial(); after == before {
		t.Errorf("the certificate is still %s after its file has changed", before)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	certs.LookNow()
	serial() // the previous certificate stays
}

// The connection of a certificate and its open requests end when it is revoked or expires. They
// also end when its authority is no longer trusted.
func TestRevokedCertificateEndsWhatItHasOpen(t *testing.T) {
	dir := t.TempDir()
	ca, next := newAuthority(t, "ours"), newAuthority(t, "next")
	serverCert, serverKey, _ := ca.issue(dir, "server", "", time.Hour)
	_, _, serial := ca.issue(dir, "agent", "spiffe://corp/agents/one", time.Hour)
	caFile, crl := ca.write(dir, "ca.pem", "CERTIFICATE", ca.cert.Raw), ca.revoke(dir)
	certs, err := auth.LoadCertificates(auth.TLS{Cert: serverCert, Key: serverKey, ClientCA: caFile, ClientCRL: crl}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	set := auth.Default()
	set.Certificates = []auth.Certificate{{SAN: access.Globs{"spiffe://corp/agents/*"}}}
	a := authenticator(t, auth.Options{Settings: set, Certificates: certs})
	shown := func(cert *x509.Certificate) *http.Request {
		r := get()
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}, VerifiedChains: [][]*x509.Certificate{{cert, ca.cert}}}
		return r
	}
	leaf := &x509.Certificate{SerialNumber: serial, RawIssuer: ca.cert.RawSubject, NotAfter: time.Now().Add(time.Hour), URIs: []*url.URL{{Scheme: "spiffe", Host: "corp", Path: "/agents/one"}}}
	other := *leaf
	other.SerialNumber = big.NewInt(99)
	old := *leaf
	old.NotAfter = time.Now().Add(-time.Second)
	hold := func(r *http.Request) context.Context {
		t.Helper()
		p, v := a.Authenticate(r)
		if p == nil {
			t.Fatal(v)
		}
		ctx, release := a.Hold(t.Context(), p, r.TLS)
		t.Cleanup(release)
		return ctx
	}
	lost, stays := shown(leaf), shown(&other)
	lostStream, staysStream := hold(lost), hold(stays)
	if _, v := a.Authenticate(shown(&old)); v.Cause != access.CauseExpired {
		t.Errorf("a certificate whose time is up on an open connection: %+v, want expired", v)
	}

	changed := func(file string, at time.Duration) {
		later := time.Now().Add(at) // file systems may have coarse timestamps
		if err := os.Chtimes(file, later, later); err != nil {
			t.Fatal(err)
		}
		certs.LookNow()
		a.LookAgain(t.Context())
	}
	ca.revoke(dir, serial)
	changed(crl, time.Minute)
	if _, v := a.Authenticate(lost); lostStream.Err() == nil || v.Cause != access.CauseInvalid {
		t.Errorf("after its revocation: stream %v, request %+v", lostStream.Err(), v)
	}
	if p, v := a.Authenticate(stays); staysStream.Err() != nil || p == nil {
		t.Errorf("another certificate: stream %v, request %+v", staysStream.Err(), v)
	}
	next.revoke(dir)
	next.write(dir, "ca.pem", "CERTIFICATE", next.cert.Raw)
	changed(caFile, 2*time.Minute)
	if _, v := a.Authenticate(stays); staysStream.Err() == nil || v.Cause != access.CauseInvalid {
		t.Errorf("after its authority went: stream %v, request %+v", staysStream.Err(), v)
	}
}
