package test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// If TLS is configured nothing else is accepted, and client certificates identify principals, like
// tokens.
func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	ca := makeCertificate(t, dir, "ca", nil, "")
	makeCertificate(t, dir, "server", ca, "")
	agent := makeCertificate(t, dir, "agent", ca, "spiffe://corp/agents/one")
	path := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	p := start(t, "auth_token = \"${PATH}\"\n[store]\nurl = \"memory:\"\n[tls]\ncert = \""+path("server.pem")+"\"\nkey = \""+path("server-key.pem")+
		"\"\nclient_ca = \""+path("ca.pem")+"\"\n[[auth.certificates]]\nsan = \"spiffe://corp/agents/*\"\ntenant = \"team-a\"\nroles = [\"agent\"]\n")
	if a := p.whoami(t, p.http, "http"); a.status != http.StatusBadRequest {
		t.Errorf("plain HTTP: %d %s", a.status, a.body)
	}
	client := func(certificates ...tls.Certificate) *http.Client {
		roots := x509.NewCertPool()
		roots.AddCert(ca.Leaf)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: certificates}, ForceAttemptHTTP2: true}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	want := `{"issuer":"mtls","subject":"spiffe://corp/agents/one","tenant":"team-a","roles":["agent"]}`
	if a := p.whoami(t, client(*agent), "https"); strings.TrimSpace(a.body) != want {
		t.Errorf("with a certificate: %d %s, want %s", a.status, a.body, want)
	}
	if a := p.whoami(t, client(), "https"); a.status != http.StatusUnauthorized || !strings.Contains(a.body, `"reason":"missing"`) {
		t.Errorf("without: %d %s", a.status, a.body)
	}
	stranger := client(*makeCertificate(t, dir, "stranger", ca, "spiffe://corp/people/two"))
	if a := p.whoami(t, stranger, "https"); a.status != http.StatusUnauthorized || !strings.Contains(a.body, `"reason":"invalid"`) {
		t.Errorf("with a certificate that is in no row: %d %s", a.status, a.body)
	}
	// A token in a message takes precedence over the connection's certificate, which does not make
	// a bad token good.
	for token, want := range map[string]int{`"proxy":{"authToken":"` + os.Getenv("PATH") + `"},`: http.StatusOK, `"proxy":{"authToken":"wrong"},`: http.StatusUnauthorized, "": http.StatusUnauthorized} {
		for _, who := range []*http.Client{stranger, client(*agent)} {
			if who != stranger && token == "" {
				want = http.StatusOK
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https"+strings.TrimPrefix(p.url, "http")+"/mcp",
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+token+modernMeta+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"} {
				req.Header.Set(name, value)
			}
			a := (&program{url: p.url, http: who}).do(t, req)
			if a.status != want || want != http.StatusOK && !strings.Contains(a.body, `"reason":"invalid"`) {
				t.Errorf("a message with %.30q: %d %s, want %d", token, a.status, a.body, want)
			}
		}
	}
}

func (p *program) whoami(t *testing.T, client *http.Client, scheme string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+strings.TrimPrefix(p.url, "http")+"/api/v1/whoami", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	other := &program{url: p.url, http: client}
	return other.do(t, req)
}

// makeCertificate makes a certificate signed by a CA, or by itself, and writes it and its key into
// dir.
func makeCertificate(t *testing.T, dir, name string, by *tls.Certificate, uri string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = []*url.URL{u}
	}
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	for file, data := range map[string][]byte{name + ".pem": certPEM, name + "-key.pem": keyPEM} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	if pair.Leaf, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return &pair
}
