package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/telemetry"
)

// server returns a server as the control plane shows it.
func (r *reloadable) server(id string) admin.Server {
	r.t.Helper()
	_, body := r.do("GET", "/api/v1/servers/"+id, "")
	var s admin.Server
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		r.t.Fatalf("%s: %v", body, err)
	}
	return s
}

// Only keys that concern the process restart it. The others are applied to the running process.
func TestReloadKeepsTheProcess(t *testing.T) {
	script := t.TempDir() + "/server.sh"
	if err := os.WriteFile(script, []byte(shellServer), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := "[[servers]]\nid = \"shell\"\nprotocol = \"legacy\"\ncommand = [\"sh\", \"" + script + "\"]\n"
	r := startReloadable(t, demo1+shell+"startup_timeout = 60\n")
	r.tools("shell") // waits until it is ready
	before := r.server("shell")
	if before.PID == nil || before.State != "ready" {
		t.Fatalf("%+v", before)
	}
	for _, c := range []struct{ more, key string }{
		{"startup_timeout = 61\n", "startup_timeout"},
		{"startup_timeout = 61\nresponse_timeout = 5\n", "response_timeout"},
		{"startup_timeout = 61\nresponse_timeout = 5\nshutdown_grace = 1\n", "shutdown_grace"},
		{"startup_timeout = 61\nresponse_timeout = 5\nshutdown_grace = 1\nmask = false\n", "mask"},
		{"startup_timeout = 61\nresponse_timeout = 5\nshutdown_grace = 1\nmask = false\nmask_exempt = [\"read_*\"]\n", "mask_exempt"},
	} {
		out := r.reload(demo1 + shell + c.more)
		if !out.Changed || len(out.Restarted)+len(out.RestartNeeded) > 0 || !slices.Contains(out.Unchanged, "shell") || !slices.Equal(out.Keys, []string{"servers.shell." + c.key}) {
			t.Errorf("%s: %+v", c.key, out)
		}
		if now := r.server("shell"); now.PID == nil || *now.PID != *before.PID || now.Restarts != before.Restarts {
			t.Errorf("%s: the process is another: %+v, before %+v", c.key, now, before)
		}
	}
	out := r.reload(demo1 + shell + "startup_timeout = 60\n[servers.env]\nA = \"b\"\n")
	if !slices.Equal(out.Restarted, []string{"shell"}) {
		t.Errorf("another environment: %+v", out)
	}
	r.tools("shell")
	if now := r.server("shell"); now.PID == nil || *now.PID == *before.PID {
		t.Errorf("another environment, and the process is the same: %+v", now)
	}
}

// Keys that do not concern the process are applied all the same.
func TestReloadOfAServersMask(t *testing.T) {
	mask := "[observation_masking.gateway]\nmax_chars = 400\nhead_chars = 200\ntail_chars = 200\n"
	r := startReloadable(t, demo1+mask)
	cut := func() bool {
		_, body := r.gate("one", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`)
		return strings.Contains(body, "OBSERVATION_MASKED")
	}
	for _, c := range []struct {
		more string
		want bool
	}{{"", true}, {"mask = false\n", false}, {"mask_exempt = [\"read_json\"]\n", true}, {"mask_exempt = [\"read_*\"]\n", false}} {
		if r.reload(demo1 + c.more + mask); cut() != c.want {
			t.Errorf("with %q results are cut: %t", c.more, !c.want)
		}
	}
}

func TestReloadOfBounds(t *testing.T) {
	r := startReloadable(t, demo1)
	big := strings.Replace(prunerCall, `"id":1`, `"id":"`+strings.Repeat("x", 8192)+`"`, 1)
	mcp := func() int {
		status, _ := r.do("POST", "/mcp", big, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		return status
	}
	gate := func() int {
		status, _ := r.gate("pruner", big)
		return status
	}
	free := mcp()
	for range 2 {
		if out := r.reload("max_message_bytes = 4096\n" + demo1); len(out.RestartNeeded) > 0 || mcp() != 413 || gate() != 413 {
			t.Errorf("8 KiB of at most 4: %d, %d, want 413; %+v", mcp(), gate(), out)
		}
		if r.reload(demo1); mcp() != free || gate() != 200 {
			t.Errorf("8 KiB again: %d, %d, want %d, 200", mcp(), gate(), free)
		}
		if r.reload("max_in_flight_bytes = 1024\n" + demo1); gate() != 503 {
			t.Errorf("with 1 KiB in flight at most: %d, want 503", gate())
		}
		r.write(demo1)
		if _, err := r.Reload(t.Context(), Apply); err != nil || gate() != 200 {
			t.Errorf("with room again: %d, %v", gate(), err)
		}
	}
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

func TestReloadOfTheLogsFormat(t *testing.T) {
	var log lockedBuffer
	format := new(telemetry.Format)
	r := startReloadableWith(t, demo1, func(opt *Options) { opt.Log, opt.Format = format.NewLogger(&log, slog.LevelInfo), format })
	with := r.log.With("server", "x")
	for _, c := range []struct{ keys, want string }{
		{"structured_logging = true\n", `"msg":"about it","server":"x"`}, {"", `msg="about it" server=x`},
	} {
		r.reload(c.keys + demo1)
		log.take()
		with.Info("about it")
		if got := log.take(); !strings.Contains(got, c.want) {
			t.Errorf("after %q: %s", c.keys, got)
		}
	}
}

// writeCertificate makes a self-signed certificate for loopback. It returns the configuration keys
// and a pool that trusts it.
func writeCertificate(t *testing.T, name string) (keys string, trust *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trust = x509.NewCertPool()
	trust.AddCert(cert)
	return "[tls]\ncert = \"" + certFile + "\"\nkey = \"" + keyFile + "\"\n", trust
}

// TLS is enabled, changed and disabled on the same listener; open connections continue.
func TestReloadOfTLS(t *testing.T) {
	first, trustFirst := writeCertificate(t, "first")
	second, trustSecond := writeCertificate(t, "second")
	path := t.TempDir() + "/secateur.toml"
	write := func(text string) {
		if err := os.WriteFile(path, []byte("listen = \"127.0.0.1:0\"\n"+text+"[store]\nurl = \"memory:\"\n[admin]\nwatch = false\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	load := func() (*config.Config, []config.Problem) { return config.LoadFile(path, config.Options{}) }
	cfg, mistakes := load()
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	address := make(chan string, 1)
	a, err := New(Options{Config: cfg, StateDir: t.TempDir(), Load: load, Listening: func(addr net.Addr) { address <- addr.String() }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	at := <-address
	// get sends a request over a new connection.
	get := func(scheme string, trust *x509.CertPool) string {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}}}
		res, err := client.Get(scheme + "://" + at + "/healthz")
		if err != nil {
			return "refused"
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.Status
	}
	for _, c := range []struct {
		rule, keys           string
		plain, first, second string
	}{
		{"off", "", "200 OK", "refused", "refused"},
		{"on", first, "400 Bad Request", "200 OK", "refused"},
		{"another certificate", second, "400 Bad Request", "refused", "200 OK"},
		{"off again", "", "200 OK", "refused", "refused"},
	} {
		write(c.keys)
		if out, err := a.Reload(ctx, Apply); err != nil || len(out.RestartNeeded) > 0 {
			t.Fatalf("%s: %+v, %v", c.rule, out, err)
		}
		if plain, one, two := get("http", nil), get("https", trustFirst), get("https", trustSecond); plain != c.plain || one != c.first || two != c.second {
			t.Errorf("%s: plain %s, first %s, second %s; want %s, %s, %s", c.rule, plain, one, two, c.plain, c.first, c.second)
		}
	}
	write("[tls]\ncert = \"/nowhere.pem\"\nkey = \"/nowhere.key\"\n")
	if _, err := a.Reload(ctx, Apply); err == nil || get("http", nil) != "200 OK" {
		t.Errorf("a certificate that is not there: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
