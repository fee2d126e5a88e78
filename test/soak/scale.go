package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The scale table: the same work for one, two and three replicas behind nginx, without faults, and
// the cost of each kind of work.

// work is one kind of request, which clients make one after the other.
type work struct {
	name string
	act  func(*client, context.Context)
}

func works() []work {
	return []work{
		{"gateway, nothing cut", func(c *client, ctx context.Context) { c.callLong(ctx, true) }},
		{"gateway, 24 kB cut", func(c *client, ctx context.Context) { c.callLong(ctx, false) }},
		{"MCP call, child process", (*client).modern},
		{"chat, next turn, one result of 24 kB pruned", (*client).nextTurn},
	}
}

func (c *client) callLong(ctx context.Context, short bool) {
	nonce := c.nonce()
	c.own(ctx, "/api/mcp-gateway/long/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":%q,"short":%t}}}`, nonce, short), nonce, nil)
}

// nextTurn continues a conversation of eight turns, then begins another.
func (c *client) nextTurn(ctx context.Context) {
	turn, conversation := c.n%8, c.n/8
	c.n++
	results := make([]string, turn+1)
	for i := range results {
		results[i] = longText(fmt.Sprintf("result-%d-%d-%d", c.id, conversation, i))
	}
	nonce := fmt.Sprintf("nonce-turn-%d-%d-%d-", c.id, conversation, turn)
	c.own(ctx, talks[0].path, talks[0].body(false, fmt.Sprintf("conversation %d of agent %d", conversation, c.id), results, nonce), nonce, nil)
}

func runScale(ctx context.Context, binary string, length time.Duration) error {
	calls := httptest.NewServer(http.HandlerFunc(answerCalls))
	defer calls.Close()
	provider := &models{seen: map[string][][sha256.Size]byte{}}
	answers := httptest.NewServer(provider)
	defer answers.Close()
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	for n := 1; n <= 3; n++ {
		if err := scaleOf(ctx, binary, n, length, sections(path, calls.URL, answers.URL), works()); err != nil {
			return fmt.Errorf("%d replicas: %w", n, err)
		}
	}
	return nil
}

func scaleOf(ctx context.Context, binary string, n int, length time.Duration, sections string, all []work) error {
	dir, err := os.MkdirTemp("", "scale-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, stop, err := startFleet(ctx, binary, dir, n, sections)
	if err != nil {
		return err
	}
	defer stop()
	if n == 1 { // of a replica that has not done anything yet
		if err := f.holds(ctx); err != nil {
			return err
		}
		fmt.Print("\n| replicas | work | requests/s | p50 | p99 | CPU of replicas, ms/request | Redis commands/request, with those in scripts | bytes more in Redis/request |\n|---|---|---|---|---|---|---|---|\n")
	}
	for _, w := range all {
		f.load(ctx, w, length/4) // to warm up
		if err := f.load(ctx, w, length).print(n, w.name); err != nil {
			return err
		}
	}
	return nil
}

// result is the outcome of a load.
type result struct {
	door      *door
	times     []time.Duration
	took      time.Duration
	cpu       float64 // seconds of all replicas
	commands  float64 // of Redis, without those unrelated to requests
	redisSize float64 // additional bytes in Redis
}

func (r result) print(replicas int, name string) error {
	n := float64(len(r.times))
	if r.door.bad() > 0 || n == 0 {
		return errors.New(r.door.String())
	}
	fmt.Printf("| %d | %s | %.0f | %.1f ms | %.1f ms | %.2f | %.1f | %.0f |\n", replicas, name, n/r.took.Seconds(),
		float64(slices.Sorted(slices.Values(r.times))[len(r.times)/2])/1e6, float64(p99(r.times))/1e6, r.cpu*1000/n, max(0, r.commands/n), max(0, r.redisSize/n))
	return nil
}

// load runs sixteen clients for a while.
func (f *fleet) load(ctx context.Context, w work, length time.Duration) (r result) {
	idle := f.engine.number(ctx, "total_commands_processed")
	pause(ctx, time.Second)
	perSecond := f.engine.number(ctx, "total_commands_processed") - idle
	r.door = &door{name: strings.ReplaceAll(w.name, " ", "-")}
	commands, size, cpu, began := f.engine.number(ctx, "total_commands_processed"), f.engine.number(ctx, "used_memory"), f.cpu(), time.Now()
	until, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for i := range 16 {
		c := &client{fleet: f, door: r.door, id: i, n: int(began.UnixNano()/1e9%1e6) * 8}
		clients.Go(func() {
			for until.Err() == nil {
				at := time.Now()
				w.act(c, until)
				took := time.Since(at)
				mu.Lock()
				if until.Err() == nil {
					r.times = append(r.times, took)
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	r.took = time.Since(began)
	r.cpu = f.cpu() - cpu
	r.commands = f.engine.number(ctx, "total_commands_processed") - commands - perSecond*r.took.Seconds()
	r.redisSize = f.engine.number(ctx, "used_memory") - size
	return r
}

// holds prints how much memory a replica needs for one more of each thing.
func (f *fleet) holds(ctx context.Context) error {
	t := f.replicas[0].process.Load()
	fmt.Print("| one more | memory of a replica |\n|---|---|\n")
	const many = 2000
	before := t.resident()
	open := make([]net.Conn, 0, many)
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for range many {
		c, err := t.dial(ctx)
		if err != nil {
			return err
		}
		open = append(open, c)
		if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			return err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	fmt.Printf("| idle connection | %.1f kB |\n", float64(t.resident()-before)/many/1e3)
	before = t.resident()
	for i := range many {
		res := t.ask(ctx, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`,
			map[string]string{"Authorization": fmt.Sprintf("Bearer agent-%d", i%100)})
		if res.status != http.StatusOK {
			return fmt.Errorf("initialize: %d %s", res.status, res.text)
		}
	}
	fmt.Printf("| session of an MCP client | %.1f kB |\n", float64(t.resident()-before)/many/1e3)
	return nil
}

// cpu returns the processor time of all replicas, in seconds.
func (f *fleet) cpu() (seconds float64) {
	for _, r := range f.replicas {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.process.Load().cmd.Process.Pid))
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 13 {
			continue
		}
		for _, ticks := range fields[11:13] { // in user and in system mode
			n, _ := strconv.ParseFloat(ticks, 64)
			seconds += n / 100
		}
	}
	return seconds
}

// resident returns the memory of the process, in bytes.
func (t *target) resident() int64 {
	statm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", t.cmd.Process.Pid))
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// number returns a value of INFO.
func (e *engine) number(ctx context.Context, name string) float64 {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", e.socket)
	if err != nil {
		return 0
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "INFO everything\r\nQUIT\r\n")
	text, _ := io.ReadAll(c)
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r")
	n, _ := strconv.ParseFloat(value, 64)
	return n
}
