package aggregate_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/mcp/upstream"
	"secateur/internal/secret"
)

// patience is how long a test waits for something that should happen soon.
const patience = time.Minute

// puppet is an MCP server whose strings a test holds. It answers by itself what every server answers, handshakes and
// lists; everything else comes to the test, which says what the server says.
type puppet struct {
	id      string
	nature  nature
	ln      net.Listener
	heard   chan string // what it was sent, if it does not answer by itself
	started chan struct{}

	mu      sync.Mutex
	conns   []net.Conn
	saw     []string        // all it was sent
	listens map[string]bool // ids of the requests to be told of changes
}

// nature is what a puppet says about itself.
type nature struct {
	ID           string                     `json:"id"`
	Era          string                     `json:"era"` // legacy, modern, both
	Capabilities json.RawMessage            `json:"capabilities"`
	Instructions string                     `json:"instructions"`
	Name         string                     `json:"name"`
	Lists        map[string]json.RawMessage `json:"lists"` // by method, the result
	Isolation    string                     `json:"isolation"`
	Focus        bool                       `json:"focus"`
	Version      string                     `json:"version"` // of the protocol, if it is legacy
	Mute         bool                       `json:"mute"`    // it does not say a word
	Asks         bool                       `json:"asks"`    // what its tools are, the test says
}

func newPuppet(t *testing.T, n nature) *puppet {
	t.Helper()
	if n.Era == "" {
		n.Era = "legacy"
	}
	if n.Capabilities == nil {
		n.Capabilities = json.RawMessage(`{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},"logging":{},"completions":{}}`)
	}
	dir, err := os.MkdirTemp("", "puppet") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	p := &puppet{id: n.ID, nature: n, ln: ln, heard: make(chan string, 1000), started: make(chan struct{}, 100), listens: map[string]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, conn)
			p.mu.Unlock()
			p.started <- struct{}{}
			all.Go(func() { p.listen(conn) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		all.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

// settings make it a child process.
func (p *puppet) settings() upstream.Settings {
	return upstream.Settings{
		ID: p.id, Command: []string{os.Args[0]}, Isolation: p.nature.Isolation, Focus: p.nature.Focus, StartupTimeout: patience, ShutdownGrace: 200 * time.Millisecond,
		Env: map[string]secret.Text{wireVariable: secret.New(p.ln.Addr().String())},
	}
}

// envelope is enough of a message to know what to do with it.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (p *puppet) listen(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		p.mu.Lock()
		p.saw = append(p.saw, line)
		p.mu.Unlock()
		var e envelope
		if json.Unmarshal([]byte(line), &e) != nil || !p.byItself(conn, e) {
			p.heard <- line
		}
	}
}

// byItself answers what needs no test.
func (p *puppet) byItself(conn net.Conn, e envelope) bool {
	if p.nature.Mute {
		return true
	}
	answer := func(result string) bool {
		_, _ = fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", e.ID, result)
		return true
	}
	refuse := func() bool {
		_, _ = fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", e.ID)
		return true
	}
	info := fmt.Sprintf(`{"name":%q,"version":"1"}`, p.nature.Name)
	switch e.Method {
	case "notifications/initialized":
		return true
	case "ping":
		return answer(`{}`)
	case "initialize":
		if p.nature.Era == "modern" {
			return refuse()
		}
		return answer(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":%s,"instructions":%q}`,
			cmp.Or(p.nature.Version, "2025-11-25"), p.nature.Capabilities, info, p.nature.Instructions))
	case "server/discover":
		if p.nature.Era == "legacy" {
			return refuse()
		}
		return answer(fmt.Sprintf(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":%s,"instructions":%q,"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":%s}}`,
			p.nature.Capabilities, p.nature.Instructions, info))
	case "subscriptions/listen":
		p.mu.Lock()
		p.listens[string(e.ID)] = true
		p.mu.Unlock()
		if !strings.Contains(string(e.Params), "resourceSubscriptions") && !strings.Contains(string(e.Params), "taskIds") { // it has nothing to tell
			_, _ = fmt.Fprintf(conn, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n", e.ID)
			return true
		}
	case "notifications/cancelled":
		var about struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(e.Params, &about)
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.listens[string(about.RequestID)]
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		if p.nature.Asks && e.Method == "tools/list" {
			return false
		}
		p.mu.Lock()
		list, ok := p.nature.Lists[e.Method]
		p.mu.Unlock()
		if ok {
			return answer(string(list))
		}
		member := map[string]string{"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}[e.Method]
		return answer(fmt.Sprintf(`{%q:[]}`, member))
	}
	return false
}

// setList changes what the puppet lists from now on.
func (p *puppet) setList(method, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nature.Lists[method] = json.RawMessage(result)
}

// say has the puppet send a line on its newest connection.
func (p *puppet) say(t *testing.T, line string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) == 0 {
		t.Fatalf("%s was never started", p.id)
	}
	if _, err := fmt.Fprintln(p.conns[len(p.conns)-1], line); err != nil {
		t.Fatal(err)
	}
}

// sent is all that the puppet was sent.
func (p *puppet) sent() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.saw, "\n")
}
