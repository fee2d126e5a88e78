package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// drift compares the duration of calls through the fleet with that of the same calls directly to
// the server. It does so by turns, in windows of time. Other load on the machine slows both.
type drift struct {
	mu      sync.Mutex
	windows []window
}

type window struct{ ours, direct []time.Duration }

const windowTime = 5 * time.Second

func (d *drift) add(w int, ours, direct time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.windows) <= w {
		d.windows = append(d.windows, window{})
	}
	d.windows[w].ours = append(d.windows[w].ours, ours)
	d.windows[w].direct = append(d.windows[w].direct, direct)
}

// measure calls by turns until ctx is done.
func (d *drift) measure(ctx context.Context, c *client, server string) {
	began := time.Now()
	direct := &target{addr: server, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	for ctx.Err() == nil {
		nonce, kills, gone := c.nonce(), c.fleet.kills.Load(), c.fleet.engine.calm.Load()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":%q,"short":true}}}`, nonce)
		at := time.Now()
		_, ok := c.own(ctx, "/api/mcp-gateway/long/rpc", body, nonce, nil)
		ours := time.Since(at)
		at = time.Now()
		if res := direct.ask(ctx, "/", body, nil); res.status != http.StatusOK || !ok {
			continue
		}
		if kills == c.fleet.kills.Load() && gone%2 == 0 && gone == c.fleet.engine.calm.Load() {
			d.add(int(at.Sub(began)/windowTime), ours, time.Since(at))
		}
		pause(ctx, 5*time.Millisecond)
	}
}

// p99s returns the ratio of the two p99s in each window with enough calls.
func (d *drift) p99s() (ratios []float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.windows {
		if len(w.ours) >= 100 {
			ratios = append(ratios, float64(p99(w.ours))/float64(p99(w.direct)))
		}
	}
	return ratios
}

func p99(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)*99/100]
}

// between compares the last third of windows with the first. It returns their ratio, and how often
// windows in random order differ as much.
func between(ratios []float64) (times, chance float64) {
	third := len(ratios) / 3
	if third == 0 {
		return 1, 1
	}
	compare := func(r []float64) float64 { return middle(r[len(r)-third:]) / middle(r[:third]) }
	times = compare(ratios)
	const rounds = 2000
	shuffled, as := slices.Clone(ratios), 0
	dice := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for range rounds {
		dice.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if compare(shuffled) >= times {
			as++
		}
	}
	return times, float64(as) / rounds
}

func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
