package test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// httpClient uses Streamable HTTP, with a session in the legacy era.
func httpClient(t *testing.T, p *program, path, version string) *client {
	t.Helper()
	c := newClient(t, version)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var posts sync.WaitGroup
	c.post = func(body, method, name string) {
		// In order: nothing else shows when it has arrived.
		if strings.HasPrefix(body, notification) {
			c.exchange(ctx, p, http.MethodPost, path, body, method, name)
			return
		}
		posts.Go(func() { c.exchange(ctx, p, http.MethodPost, path, body, method, name) })
	}
	c.close = sync.OnceFunc(func() {
		if session := c.sessionID(); session != "" {
			c.exchange(ctx, p, http.MethodDelete, path, "", "", "")
		}
		cancel()
		posts.Wait()
	})
	t.Cleanup(c.close)
	return c
}

// listen opens the standing stream of a legacy session.
func (c *client) listen(p *program, path string) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.t.Context()))
	var stream sync.WaitGroup
	stream.Go(func() { c.exchange(ctx, p, http.MethodGet, path, "", "", "") })
	closed := c.close
	c.close = sync.OnceFunc(func() { cancel(); stream.Wait(); closed() })
	c.t.Cleanup(c.close)
}

func (c *client) sessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// exchange sends one HTTP request and delivers every message of its answer.
func (c *client) exchange(ctx context.Context, p *program, verb, path, body, method, name string) {
	req, err := http.NewRequestWithContext(ctx, verb, p.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session := c.sessionID(); session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if method != "initialize" && c.version >= "2025-06-18" {
		req.Header.Set("MCP-Protocol-Version", c.version)
	}
	if c.version >= modern {
		req.Header.Set("Mcp-Method", method)
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	res, err := p.http.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			c.t.Errorf("%s %s: %v", verb, method, err)
			c.giveUp(requestID(body), message{raw: err.Error()})
		}
		return
	}
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
	c.read(res, body)
}

// read delivers the messages of an answer. It also reports a missing answer to the waiting request.
func (c *client) read(res *http.Response, request string) {
	asked := requestID(request)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		err := readEvents(res.Body, func(_, data string) {
			if data != "" {
				c.deliver(data, res.StatusCode)
			}
		})
		if err == nil {
			err = errors.New("the stream ended")
		}
		c.giveUp(asked, message{status: res.StatusCode, raw: err.Error()})
		return
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = []byte(err.Error())
	}
	if json.Valid(body) {
		c.deliver(string(body), res.StatusCode)
	}
	c.giveUp(asked, message{status: res.StatusCode, raw: string(body)})
}

// requestID returns the id of a request; nil: not a request.
func requestID(body string) json.RawMessage {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Method == "" {
		return nil
	}
	return m.ID
}

// readEvents calls back for each event of a stream.
func readEvents(stream io.Reader, event func(name, data string)) error {
	lines := bufio.NewReader(stream)
	name, data := "", ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			event(cmp.Or(name, "message"), data)
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data":
			data += value
		}
	}
}

// sseClient uses the HTTP+SSE of 2024-11-05.
func sseClient(t *testing.T, p *program, path string) *client {
	t.Helper()
	c := newClient(t, "2024-11-05")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := p.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, res.Status)
	}
	endpoint := make(chan string, 1)
	var all sync.WaitGroup
	all.Go(func() {
		defer res.Body.Close()
		_ = readEvents(res.Body, func(name, data string) { // it ends with the test
			if name == "endpoint" {
				endpoint <- data
			} else if data != "" {
				c.deliver(data, res.StatusCode)
			}
		})
	})
	t.Cleanup(func() { cancel(); all.Wait() })
	var target string
	select {
	case target = <-endpoint:
	case <-time.After(time.Minute):
		t.Fatal("no endpoint event")
	}
	if strings.HasPrefix(target, "/") {
		target = p.url + target
	}
	c.post = func(body, method, _ string) {
		all.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := p.http.Do(req)
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("%s: %v", method, err)
				}
				return
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Errorf("%s: %s, want 202", method, res.Status)
			}
		})
	}
	return c
}

// stdioClient starts secateur as a stdio server. Closing ends it and waits for it.
func stdioClient(t *testing.T, version, config string, environ ...string) (*client, *exec.Cmd) {
	t.Helper()
	c := newClient(t, version)
	cmd := exec.Command(secateur(t), "stdio", "--config", config)
	cmd.Env = append(os.Environ(), environ...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.deliver(strings.TrimSuffix(line, "\n"), 0)
		}
	}()
	var writing sync.Mutex
	c.post = func(body, method, _ string) {
		writing.Lock()
		defer writing.Unlock()
		if _, err := io.WriteString(in, body+"\n"); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	c.close = sync.OnceFunc(func() {
		_ = in.Close()
		<-read
		_ = cmd.Wait() // a test that cares checks how it ended
	})
	t.Cleanup(c.close)
	return c, cmd
}
