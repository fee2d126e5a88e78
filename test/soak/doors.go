package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// door counts what the clients of a door have seen.
type door struct {
	name                                                                  string
	answered, cut, restored, moved, excused, failed, crossed, lost, wrong atomic.Int64

	mu  sync.Mutex
	why []string // the first failures
}

func (d *door) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%-12s answered %d", d.name, d.answered.Load())
	for _, c := range []struct {
		what string
		n    *atomic.Int64
	}{
		{"cut", &d.cut},
		{"restored or the same elsewhere", &d.restored},
		{"moved to another replica", &d.moved},
		{"excused by a fault", &d.excused},
		{"FAILED", &d.failed},
		{"CROSSED", &d.crossed},
		{"LOST", &d.lost},
		{"WRONG", &d.wrong},
	} {
		if n := c.n.Load(); n > 0 {
			fmt.Fprintf(&s, ", %s %d", c.what, n)
		}
	}
	return strings.Join(append([]string{s.String()}, d.why...), "\n    ")
}

func (d *door) bad() int64 {
	return d.failed.Load() + d.crossed.Load() + d.lost.Load() + d.wrong.Load()
}

// complain counts a failure, and keeps the first ones.
func (d *door) complain(n *atomic.Int64, format string, args ...any) {
	n.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.why) < 5 {
		d.why = append(d.why, fmt.Sprintf("%s: %.300s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...)))
	}
}

// client is one of those that use a door through nginx.
type client struct {
	fleet *fleet
	door  *door
	id    int
	n     int // requests so far
}

func (c *client) nonce() string {
	c.n++
	return fmt.Sprintf("nonce-%s-%d-%d-", c.door.name, c.id, c.n)
}

// ask posts through nginx. A missing answer is excused if a replica was killed meanwhile.
func (c *client) ask(ctx context.Context, path, body string, headers map[string]string) (res reply, ok bool) {
	kills := c.fleet.kills.Load()
	if headers == nil {
		headers = map[string]string{}
	}
	headers["Authorization"] = fmt.Sprintf("Bearer agent-%s-%d", c.door.name, c.id)
	res = c.fleet.balancer.ask(ctx, path, body, headers)
	switch {
	case ctx.Err() != nil:
		return res, false
	case res.status == http.StatusOK || res.status == http.StatusNotFound || res.status == http.StatusAccepted:
		return res, true
	case kills%2 == 1 || c.fleet.kills.Load() != kills:
		c.door.excused.Add(1)
	default:
		c.door.complain(&c.door.failed, "%s: %d %s", path, res.status, res.text)
	}
	return res, false
}

// own posts, and expects the nonce of the request in the answer.
func (c *client) own(ctx context.Context, path, body, nonce string, headers map[string]string) (res reply, ok bool) {
	if res, ok = c.ask(ctx, path, body, headers); !ok {
		return res, false
	}
	switch {
	case res.status == http.StatusOK && strings.Contains(res.text, nonce):
		c.door.answered.Add(1)
		return res, true
	case strings.Contains(res.text, "nonce-"):
		c.door.complain(&c.door.crossed, "%s for %s: %s", path, nonce, res.text)
	case res.status != http.StatusNotFound:
		c.door.complain(&c.door.failed, "%s for %s: %d %s", path, nonce, res.status, res.text)
	}
	return res, false
}

// reply is a complete answer; status 0: none, and text says why.
type reply struct {
	status int
	header http.Header
	text   string
}

func (t *target) ask(ctx context.Context, path, body string, headers map[string]string) reply {
	res, err := t.post(ctx, path, body, headers)
	if err != nil {
		return reply{text: err.Error()}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{text: fmt.Sprintf("status %d, then %v", res.StatusCode, err)}
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

// gateway calls a server whose short answers pass and whose long ones are cut.
func (c *client) gateway(ctx context.Context) {
	nonce := c.nonce()
	c.own(ctx, "/api/mcp-gateway/long/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":%q,"short":%t}}}`, nonce, c.n%4 != 0), nonce, nil)
}

const echoOptions = `"goal_hint":"x","source_type":"docs","options":{"max_prune_ratio":0,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}`

// modern calls a server that is a child process, without a session.
func (c *client) modern(ctx context.Context) {
	nonce := c.nonce()
	c.own(ctx, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kid::prune_text","arguments":{"text":%q,%s},%s}}`, nonce, echoOptions, modern), nonce,
		map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "kid::prune_text"})
}

// legacy opens a session, calls a few times, and opens another if its replica is gone.
func (c *client) legacy(ctx context.Context) {
	opened := time.Now()
	res, ok := c.ask(ctx, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`, nil)
	if !ok {
		return
	}
	session := map[string]string{"Mcp-Session-Id": res.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-06-18"}
	for range 8 {
		nonce := c.nonce()
		res, ok := c.own(ctx, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"kid::prune_text","arguments":{"text":%q,%s}}}`, c.n, nonce, echoOptions), nonce, session)
		if res.status == http.StatusNotFound {
			if c.fleet.settled(opened) {
				c.door.complain(&c.door.failed, "a session is gone, and no replica was: %s", res.text)
			}
			c.door.moved.Add(1)
		}
		if !ok || !pause(ctx, 50*time.Millisecond) {
			return
		}
	}
	c.fleet.balancer.endSession(ctx, session["Mcp-Session-Id"], fmt.Sprintf("Bearer agent-%s-%d", c.door.name, c.id))
}

func (t *target) endSession(ctx context.Context, session, who string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+t.addr+"/mcp", nil)
	if err != nil {
		return
	}
	req.Header.Set("Mcp-Session-Id", session)
	req.Header.Set("Authorization", who)
	if res, err := t.client.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

// chats sends conversations, streamed or whole, in the three formats by turns.
func (c *client) chats(ctx context.Context) {
	nonce := fmt.Sprintf("nonce-turn-%d-%d-", c.id, c.n)
	t := talks[c.n%len(talks)]
	c.n++
	c.own(ctx, t.path, t.body(c.n%2 == 0, "soak", nil, nonce), nonce, nil)
}

// prunes has a text pruned and restored.
func (c *client) prunes(ctx context.Context) {
	nonce := c.nonce()
	text, _ := json.Marshal(longText(nonce))
	fault := c.fleet.engine.faults.Load()
	res, ok := c.own(ctx, "/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":{"text":%s,"goal_hint":"line 77","source_type":"logs","options":{"max_prune_ratio":0.9,"min_keep_lines":10,"timeout_ms":5000,"annotate_lines":false,"include_markers":true}}}}`, text), nonce, nil)
	if !ok {
		return
	}
	id := prunedID.FindString(res.text)
	if id == "" || strings.Count(res.text, nonce) >= 400 {
		return // the engine is down, so the text was not cut
	}
	c.door.cut.Add(1)
	c.restored(ctx, c.fleet.balancer, id, nonce, fault)
}

// restored recovers a text from a replica, byte for byte.
func (c *client) restored(ctx context.Context, at *target, id, nonce string, fault int64) {
	e, kills := c.fleet.engine, c.fleet.kills.Load()
	back := at.recover(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":%q,"ranges":[{"start_line":1,"end_line":400}],"include_line_numbers":false}}}`, id))
	if ctx.Err() != nil {
		return
	}
	text, found := rawText(back)
	switch {
	case found && strings.TrimSuffix(text, "\n") == strings.TrimSuffix(longText(nonce), "\n"):
		c.door.restored.Add(1)
	case found:
		c.door.complain(&c.door.wrong, "%s: not the text that was cut: %s", id, text)
	case fault%2 == 1 || e.faults.Load() != fault || kills%2 == 1 || c.fleet.kills.Load() != kills:
		c.door.excused.Add(1)
	default:
		c.door.complain(&c.door.lost, "%s: %s", id, back)
	}
}

// control reads what an operator reads.
func (c *client) control(ctx context.Context) {
	pages := []string{"/api/v1/status", "/api/v1/servers", "/api/v1/savings", "/api/v1/cuts", "/metrics", "/healthz"}
	page := pages[c.n%len(pages)]
	c.n++
	kills := c.fleet.kills.Load()
	status, text := c.fleet.balancer.get(ctx, page)
	switch {
	case ctx.Err() != nil:
	case status == http.StatusOK:
		c.door.answered.Add(1)
	case kills%2 == 1 || c.fleet.kills.Load() != kills:
		c.door.excused.Add(1)
	default:
		c.door.complain(&c.door.failed, "%s: %d %s", page, status, text)
	}
	if c.n%20 == 0 { // and watches the events for a moment
		watching, cancel := context.WithTimeout(ctx, 2*time.Second)
		c.fleet.balancer.get(watching, "/api/v1/events")
		cancel()
	}
}
