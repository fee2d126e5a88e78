package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

// response is a JSON-RPC response to a tools/call, as a client reads it.
type response struct {
	ID     int `json:"id"`
	Result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	} `json:"result"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

func (a answer) read(t *testing.T) (r response) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Fatalf("not JSON: %v: %.200s", err, a.body)
	}
	return r
}

func TestEverythingOverStdio(t *testing.T) {
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"everything\"\ncommand = %s\n", toml(npmServer(t, "server-everything"))))
	talkToEverything(t, p)
}

func TestEverythingOverHTTP(t *testing.T) {
	url := startEverythingHTTP(t)
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"everything\"\nurl = %q\n", url))
	talkToEverything(t, p)
}

// talkToEverything asks what any client would ask of an unknown server.
func talkToEverything(t *testing.T, p *program) {
	t.Helper()
	init := p.rpc(t, "everything", `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if !strings.Contains(init.body, `"id":"a"`) || !strings.Contains(init.body, `"serverInfo"`) {
		t.Errorf("initialize: %.300s", init.body)
	}
	if a := p.rpc(t, "everything", `{"jsonrpc":"2.0","method":"notifications/initialized"}`); a.status != http.StatusAccepted || a.body != "" {
		t.Errorf("notifications/initialized: %d %q, want 202 and nothing", a.status, a.body)
	}
	if a := p.rpc(t, "everything", `{"jsonrpc":"2.0","id":7,"method":"ping"}`); a.read(t).ID != 7 || a.read(t).Error != nil {
		t.Errorf("ping: %s", a.body)
	}
	list := p.rpc(t, "everything", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).read(t)
	if len(list.Result.Tools) < 5 {
		t.Errorf("tools/list: %d tools", len(list.Result.Tools))
	}
	echo := p.rpc(t, "everything", call(2, "echo", `{"message":"Grüße 🌿"}`))
	if got := echo.read(t); got.ID != 2 || len(got.Result.Content) != 1 || got.Result.Content[0].Text != "Echo: Grüße 🌿" {
		t.Errorf("echo: %s", echo.body)
	}
	if echo.header.Get("X-Secateur-Originals") != "" {
		t.Error("a short answer names originals")
	}
	if got := p.rpc(t, "everything", `{"jsonrpc":"2.0","id":3,"method":"no/such"}`).read(t); got.Error == nil || got.Error.Code != -32601 {
		t.Errorf("unknown method: %+v", got)
	}

	long := strings.Repeat("Zeile mit Ümlauten 🌿\n", 1000)
	arg, err := json.Marshal(map[string]string{"message": long})
	if err != nil {
		t.Fatal(err)
	}
	checkCutAndRecovery(t, p, p.rpc(t, "everything", call(4, "echo", string(arg))), "Echo: "+long)
}

func TestFilesystemReadsTenThousandLines(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir()) // the server compares real paths
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %05d of a file that fills the context window\n", i+1)
	}
	file := filepath.Join(dir, "big.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"files\"\ncommand = %s\n", toml(append(npmServer(t, "server-filesystem"), dir))))
	a := p.rpc(t, "files", call(1, "read_text_file", fmt.Sprintf(`{"path":%q}`, file)))
	checkCutAndRecovery(t, p, a, text.String())
}

// checkCutAndRecovery compares an answer with the text it was cut from, and recovers that text.
func checkCutAndRecovery(t *testing.T, p *program, a answer, original string) {
	t.Helper()
	got := a.read(t)
	if len(got.Result.Content) == 0 {
		t.Fatalf("no content: %.300s", a.body)
	}
	runes := []rune(original)
	marker := fmt.Sprintf("\n... [KIMI_PROXY_OBSERVATION_MASKED original_chars=%d head=2000 tail=2000] ...\n", len(runes))
	want := string(runes[:2000]) + marker + string(runes[len(runes)-2000:])
	if text := got.Result.Content[0].Text; text != want {
		t.Errorf("cut to %d characters, want %d: %.100q", utf8.RuneCountInString(text), utf8.RuneCountInString(want), text)
	}
	id, _, _ := strings.Cut(a.header.Get("X-Secateur-Originals"), ",")
	if !strings.HasPrefix(id, "prn_") || len(id) != len("prn_")+26 {
		t.Fatalf("X-Secateur-Originals: %q", a.header.Get("X-Secateur-Originals"))
	}
	recovered := p.post(t, "/rpc", call(9, "recover_text",
		fmt.Sprintf(`{"prune_id":%q,"ranges":[{"start_line":1,"end_line":1000000}],"include_line_numbers":false}`, id))).read(t)
	if len(recovered.Result.Content) == 0 {
		t.Fatalf("recover_text: %+v", recovered)
	}
	var back struct {
		RawText string `json:"raw_text"`
	}
	if err := json.Unmarshal([]byte(recovered.Result.Content[0].Text), &back); err != nil {
		t.Fatal(err)
	}
	if back.RawText != original {
		t.Errorf("recovered %d bytes, want the original's %d", len(back.RawText), len(original))
	}
}

// startEverythingHTTP runs npm's server-everything as a Streamable HTTP server and returns its
// address.
func startEverythingHTTP(t *testing.T) string {
	t.Helper()
	command := append(npmServer(t, "server-everything"), "streamableHttp")
	addr := freePort(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+addr[strings.LastIndexByte(addr, ':')+1:])
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGKILL) }
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening") {
			go func() { // keeps the pipe from filling up
				for lines.Scan() {
				}
			}()
			return "http://" + addr + "/mcp"
		}
	}
	t.Fatal("server-everything ended before it listened")
	return ""
}
