package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// mayOpen reports whether a process may have that many files open. The runtime has raised the limit
// as far as possible.
func mayOpen(files int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur < uint64(files) { //nolint:gosec // a count
		return fmt.Errorf("a process may have %d files open here, %d are needed: ulimit -n, or fewer -resting", limit.Cur, files)
	}
	return nil
}

// drip sends bodies a few bytes at a time.
func (t *target) drip(ctx context.Context) {
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			c, err := t.dial(ctx)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			_, err = fmt.Fprintf(c, "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\n{", token)
			for err == nil && pause(ctx, 100*time.Millisecond) {
				_, err = io.WriteString(c, "        ")
			}
		})
	}
	all.Wait()
}

// lines calls the server with endless answers: each call fails, and the program continues.
func (t *target) lines(ctx context.Context) {
	if res, err := t.post(ctx, "/api/mcp-gateway/endless/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, nil); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	pause(ctx, time.Second)
}

// endlessLine is how long an answer of that server gets before it gives up: far more than a message
// may have.
const endlessLine = 256 << 20

// serveEndless performs the handshake of an MCP server, and answers a call with an endless line.
func serveEndless(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	junk := bytes.Repeat([]byte("x"), 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &asked) != nil || asked.ID == nil {
			continue
		}
		switch asked.Method {
		case "initialize":
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"endless","version":"1"}}}`+"\n", asked.ID)
		case "tools/list":
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}`+"\n", asked.ID)
		case "tools/call":
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, asked.ID)
			for written := 0; err == nil && written < endlessLine; written += len(junk) {
				_, err = out.Write(junk)
			}
			if err == nil {
				_, err = io.WriteString(out, "\"}]}}\n")
			}
		default:
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", asked.ID)
		}
		if err != nil {
			return
		}
	}
}
