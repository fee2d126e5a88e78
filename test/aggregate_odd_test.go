package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A misbehaving server costs only the call in which it misbehaves.
func TestOddServers(t *testing.T) {
	p := start(t, "response_timeout = 5\nhealthcheck_interval = 0\n"+peerConfig(t, "odd", "plain")+peerConfig(t, "good", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	works := func(t *testing.T) {
		t.Helper()
		for _, server := range []string{"good", "odd"} {
			if got := c.tool(server+"::echo", `{"nonce":"still here"}`); got != "still here" {
				t.Errorf("%s::echo: %q", server, got)
			}
		}
	}
	for _, tc := range []struct {
		rule, tool, text, failure string
		ends                      bool
	}{
		{"noise on standard output is skipped", "noise", "after the noise", "", false},
		{"an answer in pieces is put together", "pieces", "in pieces", "", false},
		{"a flood on standard error blocks nobody", "flood", "after the flood", "", false},
		{"a crash fails the call", "crash", "", "upstream_unavailable", true},
		{"half a line fails the call", "half", "", "upstream_unavailable", true},
		{"no answer fails the call in time", "hang", "", "upstream_timeout", false},
		{"an answer counts though the server ends with it", "last", "the last words", "", true},
		{"a server that ends after each answer is started for each call", "last", "the last words", "", true},
		{"and once more", "last", "the last words", "", true},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			c.t = t
			pid, odd := c.tool("good::pid", `{}`), c.tool("odd::pid", `{}`)
			began := time.Now()
			m := c.call("tools/call", fmt.Sprintf(`{"name":"odd::%s","arguments":{}}`, tc.tool))
			if tc.failure == "" && (m.Error != nil || firstText(t, string(m.Result)) != tc.text) {
				t.Errorf("%s: %.400s", tc.tool, m.raw)
			}
			if tc.failure != "" && (m.Error == nil || !strings.Contains(string(m.Error.Data), fmt.Sprintf(`"code":%q`, tc.failure))) {
				t.Errorf("%s: %.400s, want %s", tc.tool, m.raw, tc.failure)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s took %s", tc.tool, took)
			}
			if tc.ends { // what it gets while it ends is lost
				eventually(t, time.Minute, "the server has ended", func() bool { return ended(odd) })
			}
			if list := c.result("tools/list", ""); !strings.Contains(list, `"odd::echo"`) {
				t.Errorf("after %s its tools are not listed: %.300s", tc.tool, list)
			}
			works(t)
			if again := c.tool("good::pid", `{}`); again != pid {
				t.Errorf("the other server was restarted: process %s, before %s", again, pid)
			}
		})
	}
	c.t = t
}

func TestATimeoutCancelsDownstream(t *testing.T) {
	p := start(t, "response_timeout = 3\n"+peerConfig(t, "odd", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	if m := c.call("tools/call", `{"name":"odd::hang","arguments":{}}`); m.Error == nil || m.Error.Code != -32011 {
		t.Errorf("hang: %.300s, want -32011", m.raw)
	}
	eventually(t, time.Minute, "the server is told", func() bool { return c.tool("odd::cancelled", `{}`) == "1" })
}

func TestACancelReachesTheServer(t *testing.T) {
	p := start(t, peerConfig(t, "odd", "plain"))
	for _, version := range []string{"2025-11-25", modern} {
		t.Run(version, func(t *testing.T) {
			c := httpClient(t, p, "/mcp", version)
			c.open()
			hung, cancelled := c.tool("odd::hung", `{}`), c.tool("odd::cancelled", `{}`)
			gone := httpClient(t, p, "/mcp", version)
			if version < modern {
				gone = c
			}
			id, _ := gone.begin("tools/call", `{"name":"odd::hang","arguments":{}}`)
			eventually(t, time.Minute, "the call arrives", func() bool { return c.tool("odd::hung", `{}`) != hung })
			if version < modern {
				c.notify("notifications/cancelled", `{"requestId":`+id+`,"reason":"changed my mind"}`)
			} else {
				gone.close() // hanging up cancels
			}
			eventually(t, time.Minute, "the server hears of it", func() bool { return c.tool("odd::cancelled", `{}`) != cancelled })
		})
	}
}

// A server remains usable however it reacts to the first request of the modern era.
func TestServersThatDoNotKnowDiscover(t *testing.T) {
	for _, script := range []string{"plain", "silent", "shy"} {
		for _, version := range []string{"2025-11-25", modern} {
			t.Run(script+" "+version, func(t *testing.T) {
				p := start(t, peerConfig(t, "old", script)+peerConfig(t, "good", "plain"))
				c := httpClient(t, p, "/mcp", version)
				c.open()
				if list := c.result("tools/list", ""); !strings.Contains(list, `"old::echo"`) {
					t.Errorf("tools/list lacks old::echo: %.300s", list)
				}
				if got := c.tool("old::echo", `{"nonce":"here"}`); got != "here" {
					t.Errorf("echo: %q", got)
				}
			})
		}
	}
}

func TestAServerThatNeverStartsKeepsNobodyWaiting(t *testing.T) {
	p := start(t, "first_list_wait = 1\n"+peerConfig(t, "dead", "deaf", "startup_timeout = 60")+peerConfig(t, "good", "plain"))
	for _, version := range []string{"2025-11-25", modern} {
		c := httpClient(t, p, "/mcp", version)
		began := time.Now()
		c.open()
		if list := c.result("tools/list", ""); !strings.Contains(list, `"good::echo"`) {
			t.Errorf("tools/list lacks good::echo: %.300s", list)
		}
		if got := c.tool("good::echo", `{"nonce":"here"}`); got != "here" {
			t.Errorf("echo: %q", got)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s to list and call the one that works", took)
		}
	}
}

func TestAServerThatStopsReadingStallsNobodyElse(t *testing.T) {
	p := start(t, "response_timeout = 5\n"+peerConfig(t, "rude", "rude", "shutdown_grace = 0.2")+peerConfig(t, "good", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	if list := c.result("tools/list", ""); !strings.Contains(list, `"rude::echo"`) {
		t.Fatalf("tools/list lacks rude::echo: %.300s", list)
	}
	big := strings.Repeat("x", 1<<18)
	var waiting []<-chan message
	for range 8 { // far more than the pipe holds
		_, answer := c.begin("tools/call", fmt.Sprintf(`{"name":"rude::echo","arguments":{"nonce":%q}}`, big))
		waiting = append(waiting, answer)
	}
	for i := range 20 {
		// Within response_timeout.
		if got := c.tool("good::echo", fmt.Sprintf(`{"nonce":"%d"}`, i)); got != fmt.Sprint(i) {
			t.Errorf("echo: %q", got)
		}
	}
	for _, answer := range waiting {
		select {
		case m := <-answer:
			if m.Error == nil || m.Error.Code != -32011 && m.Error.Code != -32010 {
				t.Errorf("an answer from a server that does not read: %.200s", m.raw)
			}
		case <-time.After(time.Minute):
			t.Fatal("a call to a server that does not read never ends")
		}
	}
}

func TestAMessageOverTheLimitFailsThatCallAlone(t *testing.T) {
	p := start(t, "max_message_bytes = 1048576\n[observation_masking.mcp]\nenabled = false\n"+peerConfig(t, "odd", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	pid := c.tool("odd::pid", `{}`)
	if m := c.call("tools/call", `{"name":"odd::big","arguments":{"bytes":2000000}}`); m.Error == nil || m.Error.Code != -32012 {
		t.Errorf("a result over the limit: %.300s, want -32012", m.raw)
	}
	if got := c.tool("odd::big", `{"bytes":1000000}`); len(got) != 1_000_000 {
		t.Errorf("a result below the limit has %d bytes", len(got))
	}
	if again := c.tool("odd::pid", `{}`); again != pid {
		t.Error("the server was restarted for it")
	}
}

// Everything that is not renamed or cut passes byte for byte.
func TestFidelity(t *testing.T) {
	p := start(t, peerConfig(t, "odd", "plain"))
	for _, path := range []string{"/mcp", "/mcp/odd"} {
		for _, version := range []string{"2025-11-25", modern} {
			c := httpClient(t, p, path, version)
			c.open()
			name := "raw"
			if path == "/mcp" {
				name = "odd::raw"
			}
			m := c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name))
			want := oddResult
			if version >= modern { // the modern era's additions are at either end
				want = strings.TrimSuffix(strings.TrimPrefix(oddResult, "{"), "}")
				want, _, _ = strings.Cut(want, `"_meta":{`)
			}
			if !strings.Contains(m.raw, want) {
				t.Errorf("%s in %s:\n got %s\nwant %s", path, version, m.raw, want)
			}
		}
	}
}

func TestEveryPageOfEveryServerIsListed(t *testing.T) {
	p := start(t, "page_size = 50\n[mcp_pruner]\nenabled = false\n"+peerConfig(t, "a", "plain")+peerConfig(t, "b", "plain"))
	const first, fillers = 19, (peerToolPages - 1) * peerToolsPerPage
	for _, version := range []string{"2025-11-25", modern} {
		for _, limit := range []string{"", `,"limit":7`} {
			c := httpClient(t, p, "/mcp", version)
			c.open()
			names, pages := listAll(t, c, limit)
			if want := 2 * (first + fillers); len(names) != want {
				t.Errorf("%s limit %q: %d tools, want %d", version, limit, len(names), want)
			}
			size := 50
			if limit != "" {
				size = 7
			}
			if want := (2*(first+fillers) + size - 1) / size; pages != want {
				t.Errorf("%s limit %q: %d pages, want %d", version, limit, pages, want)
			}
		}
	}
}

// The client is told that a list has changed only if it has, not whenever a server says so.
func TestListChanges(t *testing.T) {
	p := start(t, peerConfig(t, "a", "plain")+peerConfig(t, "b", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.opened = func() { c.listen(p, "/mcp") }
	c.open()
	c.result("tools/list", "")
	grows := func(server, tool string) {
		t.Helper()
		before := len(c.notices("notifications/tools/list_changed"))
		c.tool(server+"::grow", `{}`)
		eventually(t, time.Minute, server+"::"+tool+" is announced", func() bool {
			return len(c.notices("notifications/tools/list_changed")) > before
		})
		if list := c.result("tools/list", ""); !strings.Contains(list, fmt.Sprintf("%q", server+"::"+tool)) {
			t.Errorf("%s::%s was announced and is not listed", server, tool)
		}
	}
	grows("a", "grown-1")
	for range 5 {
		c.tool("a::cry", `{}`)
	}
	grows("b", "grown-1")
	grows("a", "grown-2")
	if n := len(c.notices("notifications/tools/list_changed")); n != 3 {
		t.Errorf("%d announcements of 3 changes", n)
	}
}

func TestUnknownNotificationsReachEveryServer(t *testing.T) {
	p := start(t, peerConfig(t, "a", "plain")+peerConfig(t, "b", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	c.result("tools/list", "")
	c.notify("notifications/vendor/custom", `{"x":1}`)
	for _, server := range []string{"a", "b"} {
		eventually(t, time.Minute, server+" hears of it", func() bool {
			return strings.Contains(c.tool(server+"::unknown", `{}`), "notifications/vendor/custom")
		})
	}
}

// A server isolated per session has a process for each, which ends with it.
func TestIsolationPerSession(t *testing.T) {
	p := start(t, peerConfig(t, "own", "plain", `isolation = "per-session"`))
	pids := map[string]bool{}
	var clients []*client
	for range 3 {
		c := httpClient(t, p, "/mcp", "2025-11-25")
		c.open()
		pid := c.tool("own::pid", `{}`)
		if again := c.tool("own::pid", `{}`); again != pid {
			t.Errorf("one session has the processes %s and %s", pid, again)
		}
		pids[pid] = true
		clients = append(clients, c)
	}
	if len(pids) != 3 {
		t.Errorf("3 sessions have the processes %v", pids)
	}
	for _, c := range clients {
		c.close()
	}
	eventually(t, time.Minute, "the processes of the sessions end", func() bool {
		for pid := range pids {
			if !ended(pid) {
				return false
			}
		}
		return true
	})
}

// With a process per session, a server's requests go to the session they are for, however many run
// at once.
func TestEachSessionIsAskedItsOwnQuestions(t *testing.T) {
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"everything\"\nisolation = \"per-session\"\ncommand = %s\n", toml(npmServer(t, "server-everything"))))
	var all sync.WaitGroup
	for n := range 4 {
		c := httpClient(t, p, "/mcp", "2025-11-25")
		c.capabilities = `{"sampling":{}}`
		own := fmt.Sprintf("the answer of client %d", n)
		c.answer = func(string, json.RawMessage) string {
			return fmt.Sprintf(`{"role":"assistant","content":{"type":"text","text":%q},"model":"m"}`, own)
		}
		c.open()
		all.Go(func() {
			for range 5 {
				m := c.call("tools/call", `{"name":"everything::trigger-sampling-request","arguments":{"prompt":"hi"}}`)
				if !strings.Contains(m.raw, own) {
					t.Errorf("client %d: %.400s", n, m.raw)
				}
			}
		})
	}
	all.Wait()
}

// ended reports whether the process no longer exists.
func ended(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return err != nil
}
