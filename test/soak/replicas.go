package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

var prunedID = regexp.MustCompile(`prn_[0-9A-Z]{26}`)

// sections is the configuration of every replica: a server behind plain posts, a child process, a
// provider of each format.
func sections(binary, calls, provider string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "[context_pruning]\nenabled = true\n[[servers]]\nid = \"long\"\ntransport = \"rpc\"\nurl = %q\n[[servers]]\nid = \"kid\"\ncommand = [%q, \"pruner\", \"--stdio\"]\n", calls, binary)
	for _, p := range []struct{ name, format string }{{"main", "chat"}, {"anthropic", "messages"}, {"openai", "responses"}} {
		fmt.Fprintf(&text, "[providers.%s]\nformat = %q\nbase_url = %q\nprices = { input = 1.0, cached_input = 0.1, cache_write = 1.25, output = 5.0, cache_ttl_s = 300 }\n", p.name, p.format, provider+"/v1")
	}
	for model, provider := range map[string]string{"m": "main", "claude-m": "anthropic", "gpt-m": "openai"} {
		fmt.Fprintf(&text, "[models.%s]\nprovider = %q\n", model, provider)
	}
	return text.String()
}

// runReplicas runs clients at every door of replicas behind nginx. Meanwhile the shared engine
// comes and goes, one replica is rolled and another killed.
func runReplicas(ctx context.Context, binary string, length time.Duration, n int) error {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	calls := httptest.NewServer(http.HandlerFunc(answerCalls))
	defer calls.Close()
	provider := &models{seen: map[string][][sha256.Size]byte{}}
	answers := httptest.NewServer(provider)
	defer answers.Close()
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	f, stop, err := startFleet(ctx, binary, dir, n, sections(path, calls.URL, answers.URL))
	if err != nil {
		return err
	}
	defer stop()
	return f.soak(ctx, length, provider, strings.TrimPrefix(calls.URL, "http://"))
}

// soak runs the clients and judges what they have seen.
func (f *fleet) soak(ctx context.Context, length time.Duration, provider *models, server string) error {
	until, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var work sync.WaitGroup
	var torn, churned error
	work.Go(func() { torn = f.engine.torment(until, max(6*time.Second, min(15*time.Second, length/10))) })
	work.Go(func() { churned = f.churn(until, max(5*time.Second, min(20*time.Second, length/12))) })
	var doors []*door
	for _, d := range []struct {
		name    string
		clients int
		rest    time.Duration
		act     func(*client, context.Context)
	}{
		{"gateway", 4, 20 * time.Millisecond, (*client).gateway},
		{"modern", 4, 20 * time.Millisecond, (*client).modern},
		{"legacy", 4, 20 * time.Millisecond, (*client).legacy},
		{"chats", 6, 30 * time.Millisecond, (*client).chats},
		{"pruner", 2, 100 * time.Millisecond, (*client).prunes},
		{"control", 1, 200 * time.Millisecond, (*client).control},
		{"cuts", 4, 50 * time.Millisecond, (*client).cuts},
		{"talks", 4, 50 * time.Millisecond, func(c *client, ctx context.Context) { c.converses(ctx, provider) }},
	} {
		at := &door{name: d.name}
		doors = append(doors, at)
		for i := range d.clients {
			c := &client{fleet: f, door: at, id: i}
			work.Go(func() {
				for until.Err() == nil {
					d.act(c, until)
					pause(until, d.rest)
				}
			})
		}
	}
	var times drift
	timed := &door{name: "timed"}
	doors = append(doors, timed)
	for i := range 2 {
		work.Go(func() { times.measure(until, &client{fleet: f, door: timed, id: i}, server) })
	}
	steady := f.replicas[0].process.Load()
	f.warm(until, steady)
	watch := length / 6
	pause(until, watch) // initial growth is over
	before := steady.least(until, watch)
	pause(until, length-3*watch-time.Second)
	after := steady.least(until, watch)
	work.Wait()
	pause(ctx, 5*time.Second)
	idle := steady.holdings(ctx)
	return errors.Join(torn, churned, f.judge(length, doors, &times, before, after, idle))
}

// warm makes the permanent replica do each kind of work once, since nginx decides which clients it
// gets.
func (f *fleet) warm(ctx context.Context, steady *target) {
	c := &client{fleet: &fleet{engine: f.engine, balancer: steady}, door: &door{name: "warm"}}
	c.modern(ctx)
	c.legacy(ctx)
}

// complaints returns the kinds of errors in nginx's log, with their counts.
func (f *fleet) complaints() string {
	text, _ := os.ReadFile(f.said)
	kinds := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if _, what, ok := strings.Cut(line, "*"); ok {
			_, what, _ = strings.Cut(what, " ")
			what, _, _ = strings.Cut(what, ", client")
			kinds[what]++
		}
	}
	return fmt.Sprint(kinds)
}

// judge prints the results and returns the failures.
func (f *fleet) judge(length time.Duration, doors []*door, times *drift, before, after, idle holdings) (bad error) {
	for _, d := range doors {
		fmt.Println(d)
		if d.bad() > 0 || d.answered.Load() == 0 {
			bad = errors.Join(bad, fmt.Errorf("%s: an answer was lost, or reached the wrong client, or was not what was cut", d.name))
		}
	}
	fmt.Printf("the engine had %d faults, %d replicas were rolled, %d killed\n", f.engine.faults.Load()/2, f.rolled.Load(), f.kills.Load()/2)
	fmt.Printf("the replica that stayed: %v after the first sixth, %v at the end, %v when idle\n", before, after, idle)
	fmt.Println("nginx:", f.complaints())
	ratios := times.p99s()
	grown, chance := between(ratios)
	fmt.Printf("p99 of a call over that of the server itself: %.1f in %d windows; the last third is %.2f times the first (by chance: %.3f)\n", middle(append(ratios, 0)), len(ratios), grown, chance)
	for _, d := range doors {
		if (d.name == "cuts" || d.name == "talks") && (d.cut.Load() == 0 || d.restored.Load() == 0) {
			bad = errors.Join(bad, fmt.Errorf("%s: nothing was cut, or nothing was the same elsewhere", d.name))
		}
	}
	if err := after.grown(before); err != nil {
		bad = errors.Join(bad, err)
	}
	if length >= 5*time.Minute && grown > 1.1 && chance < 0.01 {
		bad = errors.Join(bad, errors.New("calls take longer than they did"))
	}
	return bad
}

// recover retries while the engine is reported down: replicas notice its return at different times.
func (t *target) recover(ctx context.Context, body string) (text string) {
	for range 100 {
		text = t.ask(ctx, "/rpc", body, nil).text
		if !strings.Contains(text, "recovery_unavailable") || !pause(ctx, 100*time.Millisecond) {
			break
		}
	}
	return text
}

// rawText returns the text of a recovery.
func rawText(body string) (string, bool) {
	var answer struct {
		Result struct {
			Structured struct {
				Text *string `json:"raw_text"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Result.Structured.Text == nil {
		return "", false
	}
	return *answer.Result.Structured.Text, true
}
