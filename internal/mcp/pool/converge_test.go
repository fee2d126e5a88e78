package pool

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestServersKnowWhatTheirMembersWant lets members change their subscriptions and levels at random
// while the server crashes and restarts. In the end the server knows exactly the subscriptions of
// its members and their most verbose level.
func TestServersKnowWhatTheirMembersWant(t *testing.T) {
	for _, eras := range []string{"legacy", "modern"} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprint(eras, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := openHall(t, eras)
					defer h.stop()
					var mu sync.Mutex
					want := map[string]bool{}
					most := level(0)
					var work sync.WaitGroup
					for i := range 6 {
						work.Go(func() {
							uris, l := fickle(t, h, rand.New(rand.NewPCG(seed, uint64(i))))
							mu.Lock()
							defer mu.Unlock()
							for uri := range uris {
								want[uri] = true
							}
							if l != 0 && (most == 0 || l < most) {
								most = l
							}
						})
					}
					if seed%2 == 1 {
						work.Go(func() { time.Sleep(3 * time.Millisecond); restart(h.server) })
					}
					work.Wait()
					time.Sleep(2 * time.Minute)
					synctest.Wait()
					var uris []string
					for uri := range want {
						uris = append(uris, uri)
					}
					slices.Sort(uris)
					got := h.server.subscribed()
					if eras == "modern" {
						got = nil
						last := h.server.listens[len(h.server.listens)-1]
						if _, list, ok := strings.Cut(last, `"resourceSubscriptions":["`); ok {
							got = strings.Split(strings.TrimSuffix(list, `"]}}`), `","`)
						}
					}
					if !slices.Equal(got, uris) {
						t.Errorf("the server knows of %q, want %q", got, uris)
					}
					if told := h.server.levels; eras == "legacy" && most != 0 && told[len(told)-1] != levels[most-1] {
						t.Errorf("the server was told %q, want %s at last", told, levels[most-1])
					}
				})
			})
		}
	}
}

// fickle is a member that changes its wishes at random, and then stays or leaves. It returns its
// final wishes.
func fickle(t *testing.T, h *hall, r *rand.Rand) (uris map[string]bool, l level) {
	t.Helper()
	m := h.Join(legacy(`{}`), nil)
	t.Cleanup(m.Leave)
	uris = map[string]bool{}
	for range 30 {
		uri := string('a' + rune(r.IntN(4)))
		switch r.IntN(6) {
		case 0, 1, 2:
			if err := m.Subscribe(t.Context(), "a", uri); err == nil {
				uris[uri] = true
			}
		case 3, 4:
			_ = m.Unsubscribe(t.Context(), "a", uri)
			delete(uris, uri)
		case 5:
			l = level(r.IntN(len(levels)) + 1)
			if err := m.SetLevel(t.Context(), levels[l-1]); err != nil {
				t.Error(err)
			}
		}
		if r.IntN(3) == 0 {
			time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		}
	}
	if r.IntN(2) == 0 {
		m.Leave()
		return nil, 0
	}
	return uris, l
}
