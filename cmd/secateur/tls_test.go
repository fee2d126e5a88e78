package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	command := func(args ...string) (code int, out, said string) {
		var stdout, stderr bytes.Buffer
		w := world{in: strings.NewReader(""), out: &stdout, err: &stderr, home: dir, stateDir: t.TempDir(), cacheDir: t.TempDir()}
		code = run(t.Context(), args, w)
		return code, stdout.String(), stderr.String()
	}
	ask := func(path string) (code int, out, said string) { return command("status", "--json", "--config", path) }
	if code, out, said := ask(file("own.toml", listen, own)); code != 0 || !strings.Contains(out, `"mode":"serve"`) {
		t.Errorf("status: %d %s %s", code, out, said)
	}
	if code, out, said := ask(file("other.toml", listen, other)); code != exitUnreachable || out != "" || !strings.Contains(said, "another certificate") {
		t.Errorf("status with another certificate: %d %s %s", code, out, said)
	}
	if code, out, _ := ask(file("plain.toml", listen, "")); code != exitUnreachable || out != "" {
		t.Errorf("status without TLS: %d %s", code, out)
	}
	id, text := pruneOverTLS(t, "https://"+listen, filepath.Join(dir, "own.pem"))
	for _, args := range [][]string{{"--config", filepath.Join(dir, "own.toml")}, {"--config", filepath.Join(dir, "own.toml"), "--url", "https://" + listen}} {
		if code, out, said := command(append([]string{"recover", id}, args...)...); code != 0 || out != text {
			t.Errorf("recover %v: %d, %d bytes of %d, %s", args, code, len(out), len(text), said)
		}
	}
	for _, name := range []string{"other.toml", "plain.toml"} {
		if code, out, _ := command("recover", id, "--config", filepath.Join(dir, name)); code == 0 || out != "" {
			t.Errorf("recover with %s: %d %s", name, code, out)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// pruneOverTLS has the program prune a text, and returns the id of the original and the text.
func pruneOverTLS(t *testing.T, base, certificate string) (id, text string) {
	t.Helper()
	text = strings.Repeat("a line about nothing in particular, told at length\n", 100)
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "prune_text", "arguments": map[string]any{"text": text, "goal_hint": "needle", "source_type": "docs", "options": map[string]any{"max_prune_ratio": .5, "min_keep_lines": 1, "timeout_ms": 60_000, "annotate_lines": false, "include_markers": true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/rpc", bytes.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer a-token-of-this-test")
	res, err := newClient(nil, ownCertificate(certificate)).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if id = regexp.MustCompile(`prn_[0-9A-Z]{26}`).FindString(string(answer)); err != nil || id == "" {
		t.Fatalf("prune_text: %s %s %v", res.Status, answer, err)
	}
	return id, text
}
