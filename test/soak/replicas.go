package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// engine is a redis-server that is stopped and killed while replicas use it.
type engine struct {
	socket string
	mu     sync.Mutex
	cmd    *exec.Cmd
	faults atomic.Int64 // how many there have been: what was cut before one may be gone after it
}

func (e *engine) start() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", e.socket, "--save", "", "--dir", filepath.Dir(e.socket), "--loglevel", "warning") //nolint:noctx // ended by kill
	return e.cmd.Start()
}

func (e *engine) kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
}

func (e *engine) signal(s syscall.Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.cmd.Process.Signal(s)
}

// torment stops the engine for a while, lets it go on, kills it, and starts it empty, again and again until ctx is done; then the engine runs.
func (e *engine) torment(ctx context.Context) error {
	for n := 0; pause(ctx, 6*time.Second); n++ {
		e.faults.Add(1)
		if n%2 == 0 {
			e.signal(syscall.SIGSTOP)
			pause(ctx, 4*time.Second)
			e.signal(syscall.SIGCONT)
		} else {
			e.kill()
			pause(ctx, 2*time.Second)
			if err := e.start(); err != nil {
				return err
			}
		}
		e.faults.Add(1)
	}
	return nil
}

// tally is what clients have seen.
type tally struct{ answered, cut, recovered, excused, failed, crossed, lost, wrong atomic.Int64 }

func (t *tally) String() string {
	return fmt.Sprintf("answered %d, cut %d, restored by another replica %d, excused by a fault %d, failed %d, crossed %d, lost %d, wrong %d",
		t.answered.Load(), t.cut.Load(), t.recovered.Load(), t.excused.Load(), t.failed.Load(), t.crossed.Load(), t.lost.Load(), t.wrong.Load())
}

// runReplicas has clients cut at one replica and restore at another, while the engine that they share comes and goes.
func runReplicas(ctx context.Context, binary string, length time.Duration, n int) error {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	e := &engine{socket: filepath.Join(dir, "s")}
	if err := e.start(); err != nil {
		return err
	}
	defer e.kill()
	backend := httptest.NewServer(http.HandlerFunc(answerLong))
	defer backend.Close()
	var all []*target
	for range n {
		t, stop, err := startConfig(ctx, binary, 2048, fmt.Sprintf("[store]\nurl = \"unix://%s\"\n[[servers]]\nid = \"long\"\ntransport = \"rpc\"\nurl = %q\n", e.socket, backend.URL))
		if err != nil {
			return err
		}
		defer stop()
		all = append(all, t)
	}
	until, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var work sync.WaitGroup
	var seen tally
	var torn error
	work.Go(func() { torn = e.torment(until) })
	for i := range 16 {
		work.Go(func() { longClient(until, all, e, i, &seen) })
	}
	pause(until, length/4) // what grows with the first requests has grown
	before := holdings(ctx, all)
	work.Wait()
	pause(ctx, 5*time.Second)
	after := holdings(ctx, all)
	fmt.Println(&seen)
	fmt.Printf("goroutines and descriptors of each replica: %v after a quarter, %v at the end\n", before, after)
	if torn != nil {
		return torn
	}
	for i, t := range all {
		select {
		case err := <-t.ended:
			return fmt.Errorf("replica %d ended: %w", i, err)
		default:
		}
		for what := range before[i] {
			if after[i][what] > before[i][what]+50 {
				return fmt.Errorf("replica %d holds more than it did: %v, then %v", i, before, after)
			}
		}
	}
	switch {
	case seen.crossed.Load()+seen.wrong.Load()+seen.lost.Load()+seen.failed.Load() > 0:
		return errors.New("an answer was lost, or reached the wrong client, or was not what was cut")
	case seen.cut.Load() == 0 || seen.recovered.Load() == 0 || seen.cut.Load() == seen.answered.Load():
		return errors.New("nothing was cut, or nothing restored, or the faults made no difference")
	}
	return nil
}

// longText is what the server answers to a nonce: long, and told from every other by each of its lines.
func longText(nonce string) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%s line %d of a text that is long enough to be cut\n", nonce, i)
	}
	return b.String()
}

// answerLong is the server.
func answerLong(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Params struct {
			Arguments struct {
				Nonce string `json:"nonce"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, _ := json.Marshal(longText(call.Params.Arguments.Nonce))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}]}}`, text)
}

// longClient has its texts cut at one replica and restored at another.
func longClient(ctx context.Context, all []*target, e *engine, client int, seen *tally) {
	for n := 0; ctx.Err() == nil; n++ {
		nonce := fmt.Sprintf("nonce-%d-%d-", client, n)
		fault := e.faults.Load()
		at := rand.IntN(len(all)) //nolint:gosec // any will do
		status, header, got := all[at].ask(ctx, "/api/mcp-gateway/long/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"nonce":%q}}}`, nonce))
		if ctx.Err() != nil {
			return
		}
		whole, _ := json.Marshal(longText(nonce))
		id := header.Get("X-Secateur-Originals")
		switch {
		case status != http.StatusOK:
			seen.failed.Add(1)
			continue
		case !strings.Contains(got, nonce):
			seen.crossed.Add(1)
			continue
		case id == "" && !strings.Contains(got, string(whole)):
			seen.wrong.Add(1)
			continue
		}
		seen.answered.Add(1)
		if id == "" {
			continue
		}
		seen.cut.Add(1)
		back := all[(at+1)%len(all)].recover(ctx, "/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":%q,"ranges":[{"start_line":1,"end_line":400}],"include_line_numbers":false}}}`, id))
		if ctx.Err() != nil {
			return
		}
		text, found := rawText(back)
		switch {
		case found && strings.TrimSuffix(text, "\n") == strings.TrimSuffix(longText(nonce), "\n"):
			seen.recovered.Add(1)
		case found:
			seen.wrong.Add(1)
		case fault%2 == 1 || e.faults.Load() != fault:
			seen.excused.Add(1)
		default:
			seen.lost.Add(1)
		}
	}
}

// recover asks again where it is told that the engine is away: a replica may notice later than another that it is back.
func (t *target) recover(ctx context.Context, path, body string) (text string) {
	for range 100 {
		_, _, text = t.ask(ctx, path, body)
		if !strings.Contains(text, "recovery_unavailable") || !pause(ctx, 100*time.Millisecond) {
			break
		}
	}
	return text
}

// rawText is what a recovery has brought back.
func rawText(body string) (string, bool) {
	var answer struct {
		Result struct {
			Structured struct {
				Text *string `json:"raw_text"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Result.Structured.Text == nil {
		return "", false
	}
	return *answer.Result.Structured.Text, true
}

// ask posts and reads the whole answer; status 0: there was none.
func (t *target) ask(ctx context.Context, path, body string) (status int, header http.Header, text string) {
	res, err := t.post(ctx, path, body, nil)
	if err != nil {
		return 0, http.Header{}, ""
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, http.Header{}, ""
	}
	return res.StatusCode, res.Header, string(b)
}

// holdings are the goroutines and the descriptors of each replica.
func holdings(ctx context.Context, all []*target) (found [][2]int) {
	for _, t := range all {
		var h [2]int
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.addr+"/metrics", nil)
		if err != nil {
			continue
		}
		req.Header.Set("Authorization", "Bearer "+token)
		if res, err := t.client.Do(req); err == nil {
			b, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			for line := range strings.Lines(string(b)) {
				if rest, ok := strings.CutPrefix(line, "go_goroutines "); ok {
					h[0], _ = strconv.Atoi(strings.TrimSpace(rest))
				}
			}
		}
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", t.cmd.Process.Pid))
		h[1] = len(files)
		found = append(found, h)
	}
	return found
}
