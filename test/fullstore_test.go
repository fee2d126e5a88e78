package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	storeBytes = 256 << 20
	textBytes  = 200_000
)

// With a full store in memory, further texts pass whole, and the log and /readyz report it. The
// program takes little more memory than the store may hold.
func TestFilledStore(t *testing.T) {
	d, log := startLogging(t, `store = { url = "memory:", max_bytes = 268435456, put_timeout_ms = 30000 }`+"\n"+texts(t))
	cut := fill(t, d, storeBytes/textBytes*5/4)
	if most := storeBytes / textBytes; cut > most || cut < most*9/10 {
		t.Errorf("%d texts were cut, want about the %d that fit in", cut, most)
	}
	store := d.storeState(t)
	if store.State != "full" || store.Refused == 0 || store.Originals != cut || store.Bytes > store.MaxBytes {
		t.Errorf("/readyz says %+v", store)
	}
	if peak := d.peakMemory(t); peak > storeBytes*13/10 {
		t.Errorf("the program took %d MiB at most, for a store of %d", peak>>20, storeBytes>>20)
	}
	if err := d.terminate(); err != nil {
		t.Error(err)
	}
	if lines := strings.Count(log.String(), "not kept"); lines < 1 || lines > 3 {
		t.Errorf("%d lines about it in the log", lines)
	}
}

// With when_full = "oldest" everything is cut, and the newest can be restored.
func TestFilledStoreDropsTheOldest(t *testing.T) {
	d, _ := startLogging(t, `store = { url = "file:`+t.TempDir()+`", max_bytes = 4194304, when_full = "oldest", put_timeout_ms = 30000 }`+"\n"+texts(t))
	const calls = 100
	if cut := fill(t, d, calls); cut != calls {
		t.Errorf("%d of %d texts were cut", cut, calls)
	}
	store := d.storeState(t)
	if store.State != "ok" || store.Refused != 0 || store.Dropped == 0 || store.Bytes > store.MaxBytes {
		t.Errorf("/readyz says %+v", store)
	}
	id := d.rpc(t, "texts", call(1, "read", "{}")).header.Get("X-Secateur-Originals")
	back := d.post(t, "/rpc", call(2, "recover_text", `{"prune_id":"`+id+`","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":false}`))
	if !strings.Contains(back.body, "text ") {
		t.Errorf("the newest: %s", back.body)
	}
	if err := d.terminate(); err != nil {
		t.Error(err)
	}
}

// startLogging is startDaemon with a recorded log.
func startLogging(t *testing.T, config string) (*daemon, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	return startDaemonWith(t, func(cmd *exec.Cmd) { cmd.Stderr = &log }, config), &log
}

// texts is the configuration of a server whose every answer is another long, incompressible text.
func texts(t *testing.T) string {
	t.Helper()
	noise := make([]byte, textBytes+1000)
	for i := range noise {
		noise[i] = byte(' ' + 1 + rand.IntN(90))
	}
	noise = bytes.Map(func(r rune) rune {
		if r == '"' || r == '\\' {
			return '-'
		}
		return r
	}, noise)
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n := count.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"text %d\n%s"}]}}`, n, noise[n%1000:][:textBytes])
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf("[[servers]]\nid = \"texts\"\nurl = %q\ntransport = \"rpc\"\n", server.URL)
}

// fill makes that many calls, and counts the answers that were cut.
func fill(t *testing.T, d *daemon, calls int) int {
	t.Helper()
	var cut atomic.Int64
	var left atomic.Int64
	left.Store(int64(calls))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				res, err := d.http.Post(d.url+"/api/mcp-gateway/texts/rpc", "application/json", strings.NewReader(call(1, "read", "{}")))
				if err != nil {
					t.Error(err)
					return
				}
				size, err := io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if isCut := res.Header.Get("X-Secateur-Originals") != ""; isCut {
					cut.Add(1)
				} else if err != nil || size < textBytes/2 {
					t.Errorf("an answer of %d bytes: %v", size, err)
				}
			}
		})
	}
	all.Wait()
	return int(cut.Load())
}

type storeState struct {
	State     string `json:"state"`
	Originals int    `json:"originals"`
	Bytes     int64  `json:"bytes"`
	MaxBytes  int64  `json:"max_bytes"`
	Refused   int64  `json:"refused"`
	Dropped   int64  `json:"dropped"`
}

func (d *daemon) storeState(t *testing.T) storeState {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ready struct {
		Store storeState `json:"store"`
	}
	if err := json.Unmarshal([]byte(d.do(t, req).body), &ready); err != nil {
		t.Fatal(err)
	}
	return ready.Store
}

// peakMemory is the peak memory of the process.
func (d *daemon) peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		lack(t, "this system does not tell what a process takes: "+err.Error())
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
