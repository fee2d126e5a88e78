package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/app"
	"secateur/internal/config"
)

// writeCertificate makes a certificate of our own, which nobody else trusts and which names no address, and gives the section that uses it.
func writeCertificate(t *testing.T, dir, name string) (section string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "[tls]\ncert = \"" + name + ".pem\"\nkey = \"" + name + ".key\"\n"
}

// The commands reach a program with a certificate of its own through the configuration that names it; who shows another is not asked anything.
func TestCommandsReachAProgramOverTLS(t *testing.T) {
	dir := t.TempDir()
	own, other := writeCertificate(t, dir, "own"), writeCertificate(t, dir, "other")
	file := func(name, listen, section string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("listen = \""+listen+"\"\nauth_token = \"a-token-of-this-test\"\n"+section+"[store]\nurl = \"memory:\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cfg, mistakes := config.LoadFile(file("serve.toml", "127.0.0.1:0", own), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	address := make(chan string, 1)
	a, err := app.New(app.Options{Config: cfg, Version: "1", StateDir: t.TempDir(), Listening: func(addr net.Addr) { address <- addr.String() }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	listen := <-address
	ask := func(path string) (code int, out, said string) {
		var stdout, stderr bytes.Buffer
		w := world{in: strings.NewReader(""), out: &stdout, err: &stderr, home: dir, stateDir: t.TempDir()}
		code = run(t.Context(), []string{"status", "--json", "--config", path}, w)
		return code, stdout.String(), stderr.String()
	}
	if code, out, said := ask(file("own.toml", listen, own)); code != 0 || !strings.Contains(out, `"mode":"serve"`) {
		t.Errorf("status: %d %s %s", code, out, said)
	}
	if code, out, said := ask(file("other.toml", listen, other)); code != exitUnreachable || out != "" || !strings.Contains(said, "another certificate") {
		t.Errorf("status with another certificate: %d %s %s", code, out, said)
	}
	if code, out, _ := ask(file("plain.toml", listen, "")); code != exitUnreachable || out != "" {
		t.Errorf("status without TLS: %d %s", code, out)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
