package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// talk is a format of conversations: the body of a request whose last text is a turn's, after tool
// results.
type talk struct {
	path string
	body func(stream bool, first string, results []string, turn string) string
}

var talks = []talk{
	{"/v1/chat/completions", func(stream bool, first string, results []string, turn string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"model":"m","stream":%t,"messages":[{"role":"user","content":%s}`, stream, quoted(first))
		for i, r := range results {
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read_log","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%[1]d","content":%[2]s}`, i, quoted(r))
		}
		fmt.Fprintf(&b, `,{"role":"user","content":%s}]}`, quoted(turn))
		return b.String()
	}},
	{"/v1/messages", func(stream bool, first string, results []string, turn string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"model":"claude-m","max_tokens":100,"stream":%t,"messages":[{"role":"user","content":%s}`, stream, quoted(first))
		for i, r := range results {
			fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"read_log","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]s}]}`, i, quoted(r))
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":"go on?"},{"role":"user","content":%s}]}`, quoted(turn))
		return b.String()
	}},
	{"/v1/responses", func(stream bool, first string, results []string, turn string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"model":"gpt-m","stream":%t,"store":false,"input":[{"type":"message","role":"user","content":%s}`, stream, quoted(first))
		for i, r := range results {
			fmt.Fprintf(&b, `,{"type":"function_call","call_id":"c%[1]d","name":"read_log","arguments":"{}"},{"type":"function_call_output","call_id":"c%[1]d","output":%[2]s}`, i, quoted(r))
		}
		fmt.Fprintf(&b, `,{"type":"message","role":"user","content":%s}]}`, quoted(turn))
		return b.String()
	}},
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// converses sends each turn of a conversation to any two replicas: the same bytes must reach the
// model. A conversation ends with the calm between two faults of the engine, since afterwards the
// engine has forgotten it.
func (c *client) converses(ctx context.Context, m *models) {
	calm := c.fleet.engine.calm.Load()
	if calm%2 == 1 {
		return
	}
	c.n++
	t, first := talks[c.n%len(talks)], fmt.Sprintf("conversation %d of agent %d: why does it fail?", c.n, c.id)
	var results []string
	for turn := range 10 {
		results = append(results, longText(fmt.Sprintf("result-%d-%d-%d", c.id, c.n, turn)))
		name := fmt.Sprintf("nonce-turn-%d-%d-%d-", c.id, c.n, turn)
		body := t.body(turn%2 == 0, first, results, name)
		m.watch(name)
		for range 2 {
			if !c.direct(ctx, t.path, body, name, rand.IntN(len(c.fleet.replicas))) { //nolint:gosec // any will do
				m.take(name)
				return
			}
		}
		sent := m.take(name)
		switch {
		case ctx.Err() != nil, c.fleet.engine.calm.Load() != calm:
			return
		case len(sent) != 2:
			c.door.complain(&c.door.wrong, "%s turn %s: the model was asked %d times", t.path, name, len(sent))
		case sent[0] != sent[1]:
			c.door.complain(&c.door.wrong, "%s turn %s: two replicas sent other bytes", t.path, name)
			return
		default:
			c.door.restored.Add(1)
		}
		if sent[0] != sha256.Sum256([]byte(body)) {
			c.door.cut.Add(1)
		}
	}
}

// direct asks one replica without nginx; false: it is away, or has failed.
func (c *client) direct(ctx context.Context, path, body, nonce string, at int) bool {
	r := c.fleet.replicas[at]
	gone := r.gone.Load()
	res := r.process.Load().ask(ctx, path, body, nil)
	switch {
	case ctx.Err() != nil:
		return false
	case res.status == http.StatusOK && strings.Contains(res.text, nonce):
		c.door.answered.Add(1)
		return true
	case gone%2 == 1 || r.gone.Load() != gone:
		c.door.excused.Add(1)
	default:
		c.door.complain(&c.door.failed, "replica %d, %s: %d %s", at, path, res.status, res.text)
	}
	return false
}

// cuts has its texts cut at one replica and restored at another.
func (c *client) cuts(ctx context.Context) {
	nonce := c.nonce()
	fault := c.fleet.engine.faults.Load()
	at := rand.IntN(len(c.fleet.replicas)) //nolint:gosec // any will do
	r := c.fleet.replicas[at]
	gone := r.gone.Load()
	res := r.process.Load().ask(ctx, "/api/mcp-gateway/long/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":%q}}}`, nonce), nil)
	if ctx.Err() != nil {
		return
	}
	id := res.header.Get("X-Secateur-Originals")
	switch {
	case res.status != http.StatusOK && (gone%2 == 1 || r.gone.Load() != gone):
		c.door.excused.Add(1)
		return
	case res.status != http.StatusOK:
		c.door.complain(&c.door.failed, "replica %d: %d %s", at, res.status, res.text)
		return
	case !strings.Contains(res.text, nonce):
		c.door.complain(&c.door.crossed, "replica %d for %s: %s", at, nonce, res.text)
		return
	case id == "" && !strings.Contains(res.text, quoted(longText(nonce))):
		c.door.complain(&c.door.wrong, "replica %d for %s: neither cut nor whole: %s", at, nonce, res.text)
		return
	}
	c.door.answered.Add(1)
	if id == "" {
		return
	}
	c.door.cut.Add(1)
	other := c.fleet.replicas[(at+1)%len(c.fleet.replicas)]
	if gone = other.gone.Load(); gone%2 == 1 {
		other = c.fleet.replicas[0] // this one is always there
		gone = other.gone.Load()
	}
	elsewhere := &client{fleet: c.fleet, door: &door{}, id: c.id}
	elsewhere.restored(ctx, other.process.Load(), id, nonce, fault)
	switch {
	case elsewhere.door.bad() > 0 && other.gone.Load() == gone:
		n := &c.door.lost
		if elsewhere.door.wrong.Load() > 0 {
			n = &c.door.wrong
		}
		c.door.complain(n, "%s", strings.Join(elsewhere.door.why, ""))
	case elsewhere.door.restored.Load() > 0:
		c.door.restored.Add(1)
	default:
		c.door.excused.Add(1)
	}
}
