package test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/config"
)

// Replicas are stopped and restarted behind a load balancer without readiness checks. No request is
// lost, and every answer is the client's own. One replica stays, so that nginx always has one that
// it has not just found closed.
func TestRollingRestartsLoseNoRequest(t *testing.T) {
	var all []*program
	for range 3 {
		all = append(all, startOn(t, freePort(t)))
	}
	client := balancer(t, all)
	client.Transport.(*http.Transport).DisableKeepAlives = false
	var asked atomic.Int64
	done := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				nonce := fmt.Sprintf("nonce-%d-%d-", i, n)
				if status, text := echo(t, client, i, nonce); status != http.StatusOK || !strings.Contains(text, nonce) {
					t.Errorf("client %d: %d %.300s", i, status, text)
					return
				}
				asked.Add(1)
			}
		})
	}
	answered := func(more int64) {
		until := asked.Load() + more
		eventually(t, time.Minute, "clients are answered", func() bool { return asked.Load() >= until || t.Failed() })
	}
	for round := range 2 {
		answered(100)
		at := 1 + round%2
		addr := strings.TrimPrefix(all[at].url, "http://")
		if err := all[at].stop(); err != nil {
			t.Error(err)
		}
		answered(20)
		all[at] = startOn(t, addr)
	}
	answered(100)
	close(done)
	clients.Wait()
	client.CloseIdleConnections()
}

// startOn runs a program at an address.
func startOn(t *testing.T, addr string) *program {
	t.Helper()
	cfg, mistakes := config.Load("test.toml", fmt.Appendf(nil, "listen = %q\ndrain_delay = 2\n[store]\nurl = \"memory:\"\n", addr), config.Options{Lookup: os.LookupEnv})
	for _, m := range mistakes {
		t.Fatal(m)
	}
	return startConfig(t, cfg)
}

// echo has the pruner repeat a nonce, for a client that the load balancer identifies by its
// credential.
func echo(t *testing.T, client *http.Client, who int, nonce string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/rpc", strings.NewReader(call(1, "prune_text",
		`{"text":"`+nonce+`","goal_hint":"x","source_type":"docs","options":{"max_prune_ratio":0,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}}`)))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", fmt.Sprint("Bearer agent-", who))
	res, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(text)
}
