package upstream

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/wire"
)

// numbered is a server whose n-th session is named n. A call to crash ends it.
func numbered(links *int) func(l *fakeLink) error {
	return func(l *fakeLink) error {
		*links++
		name := string(rune('0' + *links))
		l.serve = func(l *fakeLink, req request) {
			switch {
			case req.Method == "initialize":
				l.answer(req.ID, `{"protocolVersion":"2025-11-25","serverInfo":{"name":"`+name+`"}}`)
			case req.Params.Name == "crash":
				l.die("crashed")
			case req.ID != nil:
				l.answer(req.ID, `"`+name+`"`)
			}
		}
		return nil
	}
}

func TestOpenedIsCalledAfterEachHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		told := make(chan string, 10)
		u := fakeUpstream(t, Options{Opened: func(p *Peer) { told <- p.ServerName }}, numbered(&links))
		stop := run(t, u)
		for _, want := range []string{"1", "2", "3"} {
			if got := <-told; got != want {
				t.Errorf("told of %s, want %s", got, want)
			}
			mustCall(t, u, toolCall(t, "1", "x", "1"), `"`+want+`"`)
			_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
			wantError(t, err, Unavailable, 0, "crashed")
		}
		stop()
		if n := len(told); n > 1 { // the last restart may have come first
			t.Errorf("told %d times more", n)
		}
	})
}

// Opened may take its time. Meanwhile calls run, and the server may even crash and restart. When
// Opened returns, it is called once with the newest session, never concurrently.
func TestOpenedTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		var u *Upstream
		var told []string
		running := 0
		release := make(chan struct{})
		u = fakeUpstream(t, Options{Opened: func(p *Peer) {
			running++
			if running > 1 {
				t.Error("called twice at once")
			}
			told = append(told, p.ServerName)
			<-release
			if _, err := u.Call(t.Context(), toolCall(t, "1", "x", "1")); err != nil {
				t.Error(err)
			}
			running--
		}}, numbered(&links))
		stop := run(t, u)
		defer stop()
		synctest.Wait() // the first handshake is being reported
		for _, now := range []string{"1", "2", "3"} {
			began := time.Now()
			mustCall(t, u, toolCall(t, "1", "x", "1"), `"`+now+`"`)
			_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
			wantError(t, err, Unavailable, 0, "crashed")
			if d := time.Since(began); d > 0 {
				t.Errorf("a call waited %s", d)
			}
		}
		mustCall(t, u, toolCall(t, "1", "x", "1"), `"4"`)
		synctest.Wait() // the handshake has been recorded
		close(release)
		synctest.Wait()
		if got := strings.Join(told, " "); got != "1 4" {
			t.Errorf("told of %s, want the first and the newest", got)
		}
	})
}

// A call that Opened makes while the server goes down does not prevent the next session from
// opening.
func TestOpenedCallsAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		var u *Upstream
		var once sync.Once
		var took time.Duration
		u = fakeUpstream(t, Options{Opened: func(*Peer) {
			once.Do(func() {
				began := time.Now()
				_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
				wantError(t, err, Unavailable, 0, "crashed")
				if _, err := u.Call(t.Context(), toolCall(t, "1", "x", "1")); err != nil {
					t.Error(err)
				}
				took = time.Since(began)
			})
		}}, numbered(&links))
		stop := run(t, u)
		time.Sleep(time.Minute)
		stop()
		if links != 2 || took > backoffFirst {
			t.Errorf("%d sessions, and the call took %s", links, took)
		}
	})
}

func TestRunWaitsForOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		var u *Upstream
		var returned atomic.Bool
		u = fakeUpstream(t, Options{Opened: func(*Peer) {
			for {
				if _, err := u.Call(t.Context(), toolCall(t, "1", "x", "1")); err != nil {
					break // it was stopped
				}
				time.Sleep(time.Second)
			}
			returned.Store(true)
		}}, numbered(&links))
		stop := run(t, u)
		time.Sleep(time.Minute)
		if returned.Load() {
			t.Error("a call failed too early")
		}
		stop()
		if !returned.Load() {
			t.Error("Run returned before Opened did")
		}
	})
}

// Every initialize declares the client's capabilities, also after the server has lost its session.
// Every handshake is reported.
func TestCapabilitiesAreDeclaredInEveryHandshake(t *testing.T) {
	for _, c := range []struct {
		rule   string
		given  []byte
		wanted string
	}{
		{"none are an empty object", nil, `{}`},
		{"they are sent as they are", []byte(`{"sampling":{"x":1.0},"elicitation":{"form":{}}}`), `{"sampling":{"x":1.0},"elicitation":{"form":{}}}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := newFakeHTTP(t)
			var mu sync.Mutex
			var declared []string
			f.first = func(_ http.ResponseWriter, _ *http.Request, req request) bool {
				if req.Method == "initialize" {
					mu.Lock()
					defer mu.Unlock()
					declared = append(declared, string(req.Params.Capabilities))
				}
				return false
			}
			told := make(chan *Peer, 10)
			u := start(t, Options{Settings: httpSettings(f.URL), Capabilities: c.given, Opened: func(p *Peer) { told <- p }})
			mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
			first := <-told
			f.forget()
			mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
			if second := <-told; second == first || second.ServerName != "fake" {
				t.Errorf("told of %+v again", second)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(declared) != 2 || declared[0] != c.wanted || declared[1] != c.wanted {
				t.Errorf("declared %q, want %s twice", declared, c.wanted)
			}
			if u.Status().Restarts != 0 || len(told) != 0 {
				t.Errorf("%d restarts, %d more handshakes told", u.Status().Restarts, len(told))
			}
		})
	}
}

func TestOwnCallsDoNotKeepASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		u := fakeUpstream(t, Options{HealthInterval: 10 * time.Second, HealthTimeout: time.Second}, func(l *fakeLink) error {
			links++
			l.serve = func(l *fakeLink, req request) {
				if req.Method != "ping" {
					l.shakeHands(req)
				}
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		o := calling(t, u, "1", CallOptions{Own: true, Patient: true})
		time.Sleep(35 * time.Second) // three checks
		wantError(t, (<-o).err, Unavailable, 0, "three health checks")
		synctest.Wait()
		if links != 2 {
			t.Errorf("%d sessions", links)
		}
	})
}

func TestPatientCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan string, 1)
		u := fakeUpstream(t, Options{ResponseTimeout: time.Second}, silent(func(l *fakeLink, req request) {
			switch {
			case req.Method == methodCancelled:
				cancelled <- string(req.Params.RequestID)
			case req.Params.Name == "slow":
				time.AfterFunc(100*24*time.Hour, func() { l.answer(req.ID, `"at last"`) })
			}
		}))
		stop := run(t, u)
		defer stop()
		reply, err := u.CallWith(t.Context(), toolCall(t, "1", "slow", "1"), CallOptions{Patient: true})
		if err != nil || string(reply.Result) != `"at last"` {
			t.Errorf("%+v, %v", reply, err)
		}
		o := calling(t, u, "1", CallOptions{Patient: true})
		stop()
		wantError(t, (<-o).err, Unavailable, 0, "stopped")
	})
}

func TestTasksAreNamed(t *testing.T) {
	for in, want := range map[string]string{
		`"tasks/get","params":{"taskId":"t"}`:          "t",
		`"tasks/update","params":{"taskId":"t\u00e9"}`: "té",
		`"tasks/cancel","params":{"taskId":"t"}`:       "t",
		`"tasks/result","params":{"taskId":"t"}`:       "t",
		`"tasks/result","params":{"taskId":7}`:         "",
		`"tasks/result","params":["taskId"]`:           "",
		`"tasks/result"`:                               "",
		`"tasks/list","params":{"taskId":"t"}`:         "",
		`"prompts/get","params":{"name":"p"}`:          "p",
		`"prompts/list","params":{"name":"p"}`:         "",
	} {
		m, err := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":`+in+`}`), wire.MaxRequestDepth)
		if err != nil {
			t.Fatal(err)
		}
		if got := target(&m); got != want {
			t.Errorf("%s is about %q, want %q", in, got, want)
		}
	}
}
