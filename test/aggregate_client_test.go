package test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	modern       = "2026-07-28"
	notification = `{"jsonrpc":"2.0","method":` // the beginning of a client's notifications
)

// message is a JSON-RPC message as a client reads it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`

	raw    string
	status int // HTTP; 0 on a pipe
}

// client is an MCP client that knows only the wire format.
type client struct {
	t            *testing.T
	version      string
	capabilities string // a JSON object
	// Answers servers' requests; "" refuses.
	answer func(method string, params json.RawMessage) (result string)
	// Sends one message; answers are delivered.
	post func(body, method, name string)
	// Called after the handshake; nil: none.
	opened func()
	close  func()

	mu      sync.Mutex
	last    int                     // guarded by mu; the newest id
	waiting map[string]chan message // guarded by mu; by id
	heard   []message               // guarded by mu; notifications
	session string                  // guarded by mu
}

func newClient(t *testing.T, version string) *client {
	t.Helper()
	return &client{t: t, version: version, capabilities: "{}", waiting: map[string]chan message{}, close: func() {}}
}

// deliver hands a message to its waiting caller.
func (c *client) deliver(text string, status int) {
	m := message{raw: text, status: status}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		c.t.Errorf("not a message: %v: %.300s", err, text)
		return
	}
	switch {
	case m.Method == "":
		c.giveUp(m.ID, m)
	case m.ID == nil:
		c.mu.Lock()
		c.heard = append(c.heard, m)
		c.mu.Unlock()
	default:
		result := ""
		if c.answer != nil {
			result = c.answer(m.Method, m.Params)
		}
		if result == "" {
			c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not here"}}`, m.ID), "", "")
		} else {
			c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result), "", "")
		}
	}
}

// giveUp ends the wait for an answer with m; later ones are ignored.
func (c *client) giveUp(id json.RawMessage, m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait, ok := c.waiting[string(id)]; ok {
		delete(c.waiting, string(id))
		wait <- m
	}
}

// begin sends a request and returns its id and the channel for the answer.
func (c *client) begin(method, params string) (id string, answer <-chan message) {
	c.mu.Lock()
	c.last++
	id = fmt.Sprint(c.last)
	wait := make(chan message, 1)
	c.waiting[id] = wait
	c.mu.Unlock()
	c.post(c.request(id, method, params))
	return id, wait
}

// request returns a request's text, its method, and what it names.
func (c *client) request(id, method, params string) (body, _, name string) {
	params = cmp.Or(params, "{}")
	var named struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	if err := json.Unmarshal([]byte(params), &named); err != nil {
		c.t.Fatalf("%s: %v", params, err)
	}
	if c.version >= modern {
		meta := fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s,"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}`, c.version, c.capabilities)
		switch {
		case params == "{}":
			params = `{"_meta":{` + meta + `}}`
		case strings.Contains(params, `"_meta":{`):
			params = strings.Replace(params, `"_meta":{`, `"_meta":{`+meta+",", 1)
		default:
			params = `{"_meta":{` + meta + `},` + params[1:]
		}
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params), method, cmp.Or(named.Name, named.URI)
}

func (c *client) notify(method, params string) {
	c.post(fmt.Sprintf(notification+`%q,"params":%s}`, method, cmp.Or(params, "{}")), method, "")
}

// call sends a request and waits for its answer.
func (c *client) call(method, params string) message {
	c.t.Helper()
	_, answer := c.begin(method, params)
	select {
	case m := <-answer:
		return m
	case <-time.After(90 * time.Second):
		c.t.Fatalf("%s %.200s: no answer", method, params)
		return message{}
	}
}

// result returns the result of a call that must succeed.
func (c *client) result(method, params string) string {
	c.t.Helper()
	m := c.call(method, params)
	if m.Error != nil || m.Result == nil {
		c.t.Fatalf("%s %.200s: HTTP %d: %.600s", method, params, m.status, m.raw)
	}
	return string(m.Result)
}

// tool calls a tool and returns the first text of its result.
func (c *client) tool(name, arguments string) string {
	c.t.Helper()
	return firstText(c.t, c.result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)))
}

func firstText(t *testing.T, result string) string {
	t.Helper()
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("no content: %v: %.300s", err, result)
	}
	return r.Content[0].Text
}

// open does the handshake and returns its result.
func (c *client) open() string {
	c.t.Helper()
	if c.version >= modern {
		return c.result("server/discover", "")
	}
	result := c.result("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"raw","version":"1"}}`, c.version, c.capabilities))
	c.notify("notifications/initialized", "")
	if c.opened != nil {
		c.opened()
	}
	return result
}

// notices returns the parameters of a method's notifications so far.
func (c *client) notices(method string) (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.heard {
		if m.Method == method {
			all = append(all, string(m.Params))
		}
	}
	return all
}
