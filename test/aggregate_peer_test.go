package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// peerScript is the environment variable that makes this test binary an MCP server on standard
// input and output. Its value says how the server begins:
//
//	plain     answers server/discover with -32601, as a server that knows the legacy era only
//	silent    never answers server/discover
//	shy       exits when it gets server/discover
//	deaf      never answers anything
//	rude      answers the handshake and the list, then stops reading
//	stubborn  stays when its input ends
//
// Its other behaviours are requested by calling its tools, see peer.call.
const peerScript = "SECATEUR_TEST_PEER"

// peerConfig is a [[servers]] entry that runs this test binary as a server.
func peerConfig(t *testing.T, id, script string, more ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[[servers]]\nid = %q\ncommand = [%q]\nenv.%s = %q\nenv.GORACE = \"atexit_sleep_ms=0\"\n%s\n", id, self, peerScript, script, strings.Join(more, "\n"))
}

// peer is a server that does on purpose what bad servers do by accident.
type peer struct {
	script    string
	mu        sync.Mutex   // one message at a time is written
	hung      int          // guarded by mu; calls that never get an answer
	cancelled int          // guarded by mu
	grown     int          // guarded by mu; tools that were added while it ran
	unknown   []string     // guarded by mu; unknown notifications
	asking    *peerRequest // the call during which the client is asked for its roots
}

type peerRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"` // if it is an answer
	Error  json.RawMessage `json:"error"`
	Params struct {
		Name      string `json:"name"`
		Cursor    string `json:"cursor"`
		Arguments struct {
			Nonce   string `json:"nonce"`
			DelayMS int    `json:"delay_ms"`
			Bytes   int    `json:"bytes"`
		} `json:"arguments"`
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// oddResult is a tools/call result in which every byte must survive: integers beyond 53 bits,
// unknown fields and content types, escapes, the order of names, white space.
const oddResult = `{"zebra":1,"content":[{"type":"hologram","z":12345678901234567890,"a":1.0,"text2":"\u00e9\/\ud83c\udf3f"},{"text":"x","type":"text","annotations":{"priority":0.10}}],` +
	` "structuredContent":{"b":[1e400,-0,0.1000],"a":null},"isError":false,"_meta":{"vendor/x":{"y":18446744073709551615}},"alpha":{}}`

func playPeer(script string) {
	p := &peer{script: script}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && script == "stubborn" {
			time.Sleep(time.Minute)
		}
		if err != nil {
			return
		}
		var r peerRequest
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "peer:", err)
			continue
		}
		if script != "deaf" {
			p.serve(r)
		}
	}
}

func (p *peer) serve(r peerRequest) {
	switch r.Method {
	case "":
		if p.asking != nil {
			p.text(*p.asking, string(r.Result)+string(r.Error))
			p.asking = nil
		}
	case "server/discover":
		switch p.script {
		case "silent":
		case "shy":
			os.Exit(1)
		default:
			p.refuse(r, -32601, "no such method")
		}
	case "initialize":
		p.result(r, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"peer","version":"1"}}`)
	case "ping":
		p.result(r, `{}`)
	case "tools/list":
		p.tools(r)
		if p.script == "rude" {
			select {} // the pipe fills up behind it
		}
	case "tools/call":
		p.call(r)
	case "notifications/cancelled":
		p.mu.Lock()
		p.cancelled++
		p.mu.Unlock()
	default:
		if r.ID != nil {
			p.refuse(r, -32601, "no such method")
			return
		}
		p.mu.Lock()
		p.unknown = append(p.unknown, r.Method)
		p.mu.Unlock()
	}
}

const peerToolPages, peerToolsPerPage = 3, 40

// tools lists the tools of call on the first page and fillers on the others.
func (p *peer) tools(r peerRequest) {
	page, _ := strconv.Atoi(r.Params.Cursor) // none: the first
	p.mu.Lock()
	grown := p.grown
	p.mu.Unlock()
	names := []string{"echo", "raw", "pid", "crash", "hang", "hung", "cancelled", "noise", "pieces", "half", "flood", "last", "big", "spawn", "grow", "cry", "unknown", "ask", "say"}
	for i := range grown {
		names = append(names, fmt.Sprintf("grown-%d", i+1))
	}
	if page > 0 {
		names = nil
		for i := range peerToolsPerPage {
			names = append(names, fmt.Sprintf("filler-%d-%02d", page, i))
		}
	}
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, n))
	}
	next := ""
	if page+1 < peerToolPages && p.script != "rude" {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, page+1)
	}
	p.result(r, `{"tools":[`+strings.Join(list, ",")+`]`+next+`}`)
}

func (p *peer) call(r peerRequest) {
	args := r.Params.Arguments
	switch r.Params.Name {
	case "echo": // after a while, and not in order
		go func() {
			time.Sleep(time.Duration(args.DelayMS) * time.Millisecond)
			if r.Params.Meta.ProgressToken != nil {
				p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%q}}`+"\n", r.Params.Meta.ProgressToken, args.Nonce))
			}
			p.text(r, args.Nonce)
		}()
	case "raw":
		p.result(r, oddResult)
	case "pid":
		p.text(r, strconv.Itoa(os.Getpid()))
	case "crash":
		os.Exit(3)
	case "hang":
		p.mu.Lock()
		p.hung++
		p.mu.Unlock()
	case "hung", "cancelled": // how often so far
		p.mu.Lock()
		n := p.hung
		if r.Params.Name == "cancelled" {
			n = p.cancelled
		}
		p.mu.Unlock()
		p.text(r, strconv.Itoa(n))
	case "noise": // lines that are no JSON, JSON that is no JSON-RPC, answers to nothing
		p.write("loading...\n\n{\"level\":\"info\"}\n[]\nnull\n{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}\n\x00\xff\xfe\n")
		p.text(r, "after the noise")
	case "pieces": // one line, in small pieces
		line := textResponse(r, "in pieces")
		for i := 0; i < len(line); i += 7 {
			p.write(line[i:min(i+7, len(line))])
			time.Sleep(time.Millisecond)
		}
	case "half":
		line := textResponse(r, "never whole")
		p.write(line[:len(line)/2])
		os.Exit(0)
	case "flood":
		fmt.Fprint(os.Stderr, strings.Repeat(strings.Repeat("x", 1023)+"\n", 8<<10), strings.Repeat("no end of line", 1<<16))
		p.text(r, "after the flood")
	case "last":
		p.text(r, "the last words")
		os.Exit(0)
	case "grow", "cry": // both say that the list has changed
		p.mu.Lock()
		if r.Params.Name == "grow" {
			p.grown++
		}
		p.mu.Unlock()
		p.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
		p.text(r, "said so")
	case "say": // a log message, then the answer
		p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%q}}`+"\n", args.Nonce))
		p.text(r, "said so")
	case "ask": // without params, which are optional
		p.asking = &r
		p.write(`{"jsonrpc":"2.0","id":"roots?","method":"roots/list"}` + "\n")
	case "unknown":
		p.mu.Lock()
		all := strings.Join(p.unknown, " ")
		p.mu.Unlock()
		p.text(r, all)
	case "big":
		p.text(r, strings.Repeat("b", args.Bytes))
	case "spawn": // a child that holds the pipes, and one that left the process group
		for _, command := range []string{"exec sleep 300", "exec setsid sleep 300"} {
			cmd := exec.Command("sh", "-c", command)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Start(); err != nil {
				p.refuse(r, -32603, err.Error())
				return
			}
		}
		p.text(r, "spawned")
	default:
		p.refuse(r, -32602, "no such tool: "+r.Params.Name)
	}
}

func textResponse(r peerRequest, text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", r.ID, quoted)
}

func (p *peer) text(r peerRequest, text string) { p.write(textResponse(r, text)) }

func (p *peer) result(r peerRequest, result string) {
	p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result))
}

func (p *peer) refuse(r peerRequest, code int, why string) {
	p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", r.ID, code, why))
}

func (p *peer) write(text string) {
	p.mu.Lock()
	_, err := os.Stdout.WriteString(text)
	p.mu.Unlock()
	if err != nil {
		os.Exit(0) // no reader is left
	}
}
