package redisdb_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"

	"github.com/redis/go-redis/v9"
)

const slowly = "read_timeout=30s&write_timeout=30s&dial_timeout=30s"

// replica holds the stores of one replica in an engine.
type replica struct {
	db        *redisdb.DB
	originals *originals.Redis
	records   *records.Redis
	limits    *limit.Redis
}

func newReplica(t *testing.T, url string) replica {
	t.Helper()
	db := open(t, redisdb.Options{URL: url})
	o, err := originals.OpenRedis(originals.RedisOptions{DB: db, MaxBytes: 1 << 30, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return replica{db, o, records.NewRedis(records.RedisOptions{DB: db}), limit.NewRedis(db)}
}

// text returns the n-th text, of some kilobytes.
func text(n int) string { return fmt.Sprint(n, " ", originalstest.Noise(uint64(n), 4000)) }

// together checks texts and records written in one round trip, in any hash slots.
func together(t *testing.T, a, b replica, n int) {
	t.Helper()
	texts, key := []string{text(1000 * n), text(1000*n + 1), text(1000*n + 2)}, func(i int) string { return fmt.Sprint("together ", n, i) }
	writing := a.records.Writing(len(texts), func(i int) (string, []byte, bool) { return key(i), []byte("said"), i == 0 })
	ids, errs := a.originals.PutEach(t.Context(), "tenant", texts, writing.Ask)
	if err := errors.Join(append(errs, writing.Errs(t.Context())...)...); err != nil {
		t.Fatalf("PutEach: %v", err)
	}
	for i, id := range ids {
		if got, err := b.originals.Get(t.Context(), "tenant", id); err != nil || got != texts[i] {
			t.Errorf("text %d by another replica = %d bytes, %v", i, len(got), err)
		}
		if got, ok, err := b.records.Get(t.Context(), key(i)); err != nil || !ok || string(got) != "said" {
			t.Errorf("record %d by another replica = %q, %v, %v", i, got, ok, err)
		}
	}
}

// works checks all stores: one replica reads what another wrote, and both count together.
func works(t *testing.T, a, b replica, n int) {
	t.Helper()
	id, err := a.originals.Put(t.Context(), "tenant", text(n))
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	if got, err := b.originals.Get(t.Context(), "tenant", id); err != nil || got != text(n) {
		t.Errorf("Get by another replica = %d bytes, %v", len(got), err)
	}
	key := fmt.Sprint("record ", n)
	if err := a.records.Put(t.Context(), key, []byte("said")); err != nil {
		t.Fatalf("Put of a record: %v", err)
	}
	if got, ok, err := b.records.Get(t.Context(), key); err != nil || !ok || string(got) != "said" {
		t.Errorf("the record by another replica = %q, %v, %v", got, ok, err)
	}
	together(t, a, b, n)
	ask := limit.Ask{Bucket: key, Step: time.Hour, Window: time.Hour}
	if answer, err := a.limits.Take(t.Context(), ask); err != nil || answer.Reason != "" {
		t.Errorf("the first call: %+v, %v", answer, err)
	}
	if answer, err := b.limits.Take(t.Context(), ask); err != nil || answer.Reason != limit.ReasonRate {
		t.Errorf("the second call, of another replica: %+v, %v, want it refused", answer, err)
	}
}

func TestOverTLS(t *testing.T) {
	ca, cert, key := certificate(t)
	_, addr := redistest.StartOnPort(t, func(port string) []string {
		return []string{"--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca}
	})
	files := "&tls_ca=" + ca + "&tls_cert=" + cert + "&tls_key=" + key
	works(t, newReplica(t, "rediss://"+addr+"?"+slowly+files), newReplica(t, "rediss://"+addr+"?"+slowly+files), 1)
	for rule, url := range map[string]string{
		"an authority that nobody has named": "rediss://" + addr + "?tls_cert=" + cert + "&tls_key=" + key,
		"a client without a certificate":     "rediss://" + addr + "?tls_ca=" + ca,
		"a client that speaks no TLS":        "redis://" + addr,
	} {
		if db := open(t, redisdb.Options{URL: url}); db.Up() == nil {
			t.Errorf("%s: the engine answers", rule)
		}
	}
	for _, bad := range []string{"rediss://h?tls_cert=x", "redis://h?tls_ca=" + ca, "rediss://h?tls_ca=" + key, "rediss://h?tls_ca=none"} {
		if err := redisdb.Check(bad); err == nil {
			t.Errorf("Check(%s): no error", bad)
		}
	}
}

// certificate creates a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (ca, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, cert, key
}

// After a Sentinel failover, replicas find the new master, and replicated data is there.
func TestSentinelFailsOver(t *testing.T) {
	first, addr := redistest.StartOnPort(t, redistest.Port)
	host, port, _ := net.SplitHostPort(addr)
	second, other := redistest.StartOnPort(t, func(own string) []string { return []string{"--port", own, "--replicaof", host + " " + port} })
	sentinel := redistest.StartSentinel(t, addr)
	url := "redis://" + sentinel + "?master_name=m&" + slowly
	a, b := newReplica(t, url), newReplica(t, url)
	works(t, a, b, 1)
	watcher := redis.NewSentinelClient(&redis.Options{Addr: sentinel})
	defer func() { _ = watcher.Close() }()
	waitFor(t, func() bool {
		known, err := watcher.Replicas(t.Context(), "m").Result()
		return err == nil && len(known) == 1 && known[0]["master-link-status"] == "ok"
	})
	at, err := watcher.GetMasterAddrByName(t.Context(), "m").Result()
	if err != nil {
		t.Fatal(err)
	}
	master := map[string]*redistest.Server{addr: first, other: second}[net.JoinHostPort(at[0], at[1])]
	waitFor(t, func() bool { // the writes were replicated
		n, err := master.Client().Wait(t.Context(), 1, time.Minute).Result()
		return err == nil && n == 1
	})
	master.Kill()
	waitFor(t, func() bool { // refused until there is a new master
		_, err := a.originals.Put(t.Context(), "tenant", text(2))
		return err == nil
	})
	waitFor(t, func() bool { return b.db.Up() == nil })
	for n := 1; n <= 2; n++ {
		if got, err := b.originals.Get(t.Context(), "tenant", b.originals.ID("tenant", text(n))); err != nil || got != text(n) {
			t.Errorf("text %d after the failover = %d bytes, %v", n, len(got), err)
		}
	}
	works(t, a, b, 3)
}

// While slots move between nodes of a Cluster, replicas write. Everything reported as stored is
// found.
func TestClusterIsResharded(t *testing.T) {
	nodes := redistest.StartCluster(t)
	url := "redis://" + nodes[0] + "?addr=" + nodes[1] + "&addr=" + nodes[2] + "&" + slowly
	a, b := newReplica(t, url), newReplica(t, url)
	waitFor(t, func() bool { return a.db.Up() == nil && b.db.Up() == nil && clusterIsWhole(t, nodes) })
	works(t, a, b, 0)

	done := make(chan struct{})
	var mu sync.Mutex
	kept := map[string]int{}
	var writers sync.WaitGroup
	for w, r := range []replica{a, b} {
		writers.Go(func() {
			for n := w + 1; ; n += 2 {
				select {
				case <-done:
					return
				default:
				}
				if id, err := r.originals.Put(t.Context(), "tenant", text(n)); err == nil {
					mu.Lock()
					kept[id] = n
					mu.Unlock()
				}
			}
		})
	}
	enough := func(than int) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return len(kept) > than }
	}
	waitFor(t, enough(20))
	for _, way := range [][2]int{{0, 1}, {1, 2}} {
		reshard(t, nodes[way[0]], nodes[way[1]], 800)
	}
	mu.Lock()
	so := len(kept)
	mu.Unlock()
	waitFor(t, enough(so+20)) // it continues afterwards
	close(done)
	writers.Wait()
	for id, n := range kept {
		if got, err := b.originals.Get(t.Context(), "tenant", id); err != nil || got != text(n) {
			t.Fatalf("text %d of %d = %d bytes, %v", n, len(kept), len(got), err)
		}
	}
	works(t, a, b, 1_000_000)
}

// clusterIsWhole reports whether every node knows the owner of each slot.
func clusterIsWhole(t *testing.T, nodes []string) bool {
	t.Helper()
	for _, addr := range nodes {
		c := redis.NewClient(&redis.Options{Addr: addr})
		info, err := c.ClusterInfo(t.Context()).Result()
		_ = c.Close()
		if err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:3") {
			return false
		}
	}
	return true
}

// reshard moves slots with redis-cli.
func reshard(t *testing.T, from, to string, slots int) {
	t.Helper()
	id := func(addr string) string {
		c := redis.NewClient(&redis.Options{Addr: addr})
		defer func() { _ = c.Close() }()
		return c.Do(t.Context(), "cluster", "myid").Val().(string)
	}
	// It refuses until the nodes agree on the last move.
	waitFor(t, func() bool {
		return exec.CommandContext(t.Context(), "redis-cli", "--cluster", "check", from).Run() == nil
	})
	out, err := exec.CommandContext(t.Context(), "redis-cli", "--cluster", "reshard", from, "--cluster-from", id(from), "--cluster-to", id(to),
		"--cluster-slots", fmt.Sprint(slots), "--cluster-yes").CombinedOutput()
	if err != nil {
		t.Fatalf("reshard: %v: %s", err, out[max(0, len(out)-2000):])
	}
}
