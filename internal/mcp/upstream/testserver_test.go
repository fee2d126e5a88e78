package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"secateur/internal/secret"
)

// childVariable makes the test binary act as a server instead of running tests. Its value is the
// server's fault.
const childVariable = "UPSTREAM_TEST_CHILD"

func TestMain(m *testing.M) {
	if fault := os.Getenv(childVariable); fault != "" {
		os.Exit(playChild(fault))
	}
	goleak.VerifyTestMain(m)
}

// childSettings configure the test binary as a server with a fault.
func childSettings(tb testing.TB, fault string) Settings {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Settings{
		ID: "child", Command: []string{self}, StartupTimeout: patience, ShutdownGrace: 200 * time.Millisecond,
		Env: map[string]secret.Text{childVariable: secret.New(fault), "GORACE": secret.New("atexit_sleep_ms=0")},
	}
}

// testServer is a small MCP server over standard input and output.
type testServer struct {
	fault string
	mu    sync.Mutex // held while writing
	out   *bufio.Writer
	calls int
	kept  []request // not answered yet
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`

		Capabilities json.RawMessage `json:"capabilities"`
		Meta         struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func playChild(fault string) int {
	c := &testServer{fault: fault, out: bufio.NewWriter(os.Stdout)}
	switch fault {
	case "sdk":
		return playSDK()
	case "exit":
		fmt.Fprintln(os.Stderr, "no such database")
		return 1
	case "stderr":
		junk := bytes.Repeat([]byte("warning: something is odd\n"), 1024)
		for range 320 { // 8 MB
			os.Stderr.Write(junk)
		}
		os.Stderr.Write(bytes.Repeat([]byte("x"), 1<<20)) // and a line without an end
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "flood":
		go func() {
			for i := 0; ; i++ {
				c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d}}`, i))
			}
		}()
	case "family", "family-crash":
		// one stays, one leaves the process group and the session, one also ignores SIGTERM
		cmd := exec.Command("sh", "-c", `sleep 300 & setsid sleep 301 & setsid sh -c 'trap "" TERM; sleep 302; sleep 303' & echo started; wait`)
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
		bufio.NewReader(out).ReadString('\n')
	}
	c.serve(os.Stdin)
	if fault == "stubborn" {
		select {}
	}
	return 0
}

func (c *testServer) serve(in io.Reader) {
	r := bufio.NewReader(in)
	if c.fault == "content-length" {
		c.serveCounted(r)
		return
	}
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		c.handle(line)
		if c.fault == "deaf" && c.calls > 0 {
			select {}
		}
	}
}

func (c *testServer) serveCounted(r *bufio.Reader) {
	for {
		var n int
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		c.handle(body)
	}
}

func (c *testServer) handle(line []byte) {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		fmt.Fprintln(os.Stderr, "bad message:", err)
		return
	}
	switch req.Method {
	case "initialize":
		if c.fault == "hang" {
			return
		}
		if c.fault == "noise" {
			c.raw("Server listening on stdio!\n\n{\"level\":\"info\"}\n[1,2]\nnull\n{\"jsonrpc\":\"2.0\"}\n\x00\xff\n")
		}
		c.answer(req.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"x-odd":1.0}},"serverInfo":{"name":"child","version":"1"},"x-more":12345678901234567890}`)
	case "ping":
		if c.fault != "noping" {
			c.answer(req.ID, `{}`)
		}
	case "tools/call":
		c.call(req)
	case "notifications/cancelled":
		c.kept = append(c.kept, req)
	case "":
		c.mu.Lock()
		fmt.Fprintf(os.Stderr, "answered: %s\n", line)
		c.mu.Unlock()
		c.kept = append(c.kept, req)
	}
}

func (c *testServer) call(req request) {
	c.calls++
	switch req.Params.Name {
	case "keep": // answered by a later one
		c.kept = append(c.kept, req)
		return
	case "release":
		for _, k := range c.kept {
			if k.Method == "tools/call" {
				c.answer(k.ID, `{"late":true}`)
			}
		}
	case "kept":
		b, _ := json.Marshal(c.kept)
		c.answer(req.ID, string(b))
		return
	case "crash":
		os.Exit(3)
	case "wrong-id":
		c.answer(json.RawMessage(string(req.ID)+"000"), `{}`)
		return
	case "string-id":
		c.answer(json.RawMessage(`"`+string(req.ID)+`"`), `{}`)
		return
	case "huge":
		var n int
		json.Unmarshal(req.Params.Arguments, &n)
		c.huge(n, req.ID)
		return
	case "half":
		s := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"half":true}}`, req.ID) + "\n"
		c.raw("noise between\n" + s[:len(s)/2])
		c.raw(s[len(s)/2:])
		return
	case "broken":
		c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"half":}}`, req.ID) + "\n")
		return
	case "progress":
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, req.Params.Meta.ProgressToken))
	case "ask":
		c.write(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}`)
		c.write(`{"jsonrpc":"2.0","id":"s2","method":"ping"}`)
	case "die-after":
		c.answer(req.ID, string(req.Params.Arguments))
		os.Exit(0)
	}
	if c.fault == "crash3" && c.calls == 3 {
		os.Exit(3)
	}
	if req.Params.Arguments == nil {
		req.Params.Arguments = json.RawMessage(`{}`)
	}
	c.answer(req.ID, string(req.Params.Arguments))
}

// huge answers with a line of n bytes whose id is its last member.
func (c *testServer) huge(n int, id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.WriteString(`{"jsonrpc":"2.0","result":{"id":1,"text":"`)
	chunk := strings.Repeat(`\"id\":7,x`, 1024)
	for n > 0 {
		c.out.WriteString(chunk)
		n -= len(chunk)
	}
	fmt.Fprintf(c.out, `"},"id":%s}`+"\n", id)
	c.out.Flush()
}

func (c *testServer) answer(id json.RawMessage, result string) {
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (c *testServer) write(msg string) {
	if c.fault == "content-length" {
		c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(msg), msg))
		return
	}
	c.raw(msg + "\n")
}

func (c *testServer) raw(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.WriteString(s)
	c.out.Flush()
}
