package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Three clients with different capabilities, and one of the modern era, are served by one process
// of each server.
func TestOneProcessForEveryServer(t *testing.T) {
	config, _ := threeServers(t)
	mark := fmt.Sprintf("SECATEUR_TEST_MARK=%d.one-process", os.Getpid())
	d := startDaemon(t, withMark(config+peerConfig(t, "peer", "plain"), mark))
	pids := map[string]bool{}
	for _, c := range []struct{ version, capabilities string }{
		{"2025-11-25", `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`},
		{"2025-06-18", `{"roots":{}}`},
		{"2025-03-26", `{}`},
		{modern, `{"elicitation":{"url":{}}}`},
	} {
		client := httpClient(t, d.program, "/mcp", c.version)
		client.capabilities = c.capabilities
		client.open()
		list := client.result("tools/list", "")
		for _, tool := range []string{"everything::echo", "files::read_text_file", "memory::read_graph", "peer::pid"} {
			if !strings.Contains(list, `"`+tool+`"`) {
				t.Errorf("%s: tools/list lacks %s", c.version, tool)
			}
		}
		pids[client.tool("peer::pid", `{}`)] = true
		client.tool("everything::echo", `{"message":"x"}`)
	}
	if len(pids) != 1 {
		t.Errorf("the same server answers with %d process ids", len(pids))
	}
	if n := marked(t, mark); n != 4 {
		t.Errorf("%d processes of 4 servers", n)
	}
}

// However the servers behave, a client gets its greeting: the first after a start, and the first
// modern one of a long-running daemon.
func TestTheGreetingWaitsForNobody(t *testing.T) {
	config := "first_list_wait = 600\n" + peerConfig(t, "good", "plain") + peerConfig(t, "silent", "silent") + peerConfig(t, "deaf", "deaf", "startup_timeout = 600")
	d := startDaemon(t, config)
	for _, version := range []string{"2025-11-25", modern, "2025-11-25", modern} {
		c := httpClient(t, d.program, "/mcp", version)
		c.open() // fails after 90 s, long before any of those waits is over
		if version == modern {
			if said := c.result("server/discover", ""); !strings.Contains(said, `"instructions"`) || !strings.Contains(said, "pruner::recover_text") {
				t.Errorf("server/discover: %.300s", said)
			}
		}
		if said := c.tool("good::echo", `{"nonce":"here"}`); !strings.Contains(said, "here") {
			t.Errorf("echo: %.300s", said)
		}
	}
}

// A child that installs itself first is left alone, is reported, and comes up in the end.
func TestAChildThatInstallsItselfComesUp(t *testing.T) {
	command := toml(append([]string{"sh", "-c", `echo "added 112 packages" >&2; sleep 5; exec "$@"`, "npx"}, npmServer(t, "server-memory")...))
	d := startDaemon(t, fmt.Sprintf("[[servers]]\nid = \"memory\"\nstartup_timeout = 3\ncommand = %s\n", command))
	type state struct {
		State    string `json:"state"`
		Restarts int    `json:"restarts"`
		Error    string `json:"error"`
	}
	look := func() (s state) {
		var ready struct {
			Servers []struct {
				ID string `json:"id"`
				state
			} `json:"servers"`
		}
		res, err := d.http.Get(d.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if err := json.NewDecoder(res.Body).Decode(&ready); err != nil {
			t.Fatal(err)
		}
		for _, server := range ready.Servers {
			if server.ID == "memory" {
				return server.state
			}
		}
		t.Fatal("/readyz does not know the server")
		return s
	}
	eventually(t, 2*time.Minute, "it is reported", func() bool {
		s := look()
		return s.State == "ready" || strings.Contains(s.Error, "no answer yet; its output: added 112 packages") && strings.Contains(s.Error, "startup_timeout")
	})
	eventually(t, 2*time.Minute, "it is ready", func() bool { return look().State == "ready" })
	if s := look(); s.Restarts != 0 || s.Error != "" {
		t.Errorf("in the end: %+v", s)
	}
}

// The second signal ends every server with all its child processes, however long it would take by
// itself.
func TestTwoSignalsLeaveNothingBehind(t *testing.T) {
	mark := fmt.Sprintf("SECATEUR_TEST_MARK=%d.two-signals", os.Getpid())
	const grace = "shutdown_grace = 600"
	d := startDaemon(t, withMark(peerConfig(t, "a", "stubborn", grace)+peerConfig(t, "b", "stubborn", grace), mark))
	c := httpClient(t, d.program, "/mcp", "2025-11-25")
	c.open()
	c.tool("a::spawn", `{}`)
	c.tool("b::echo", `{"nonce":"x"}`)
	eventually(t, time.Minute, "all processes of the servers are there", func() bool { return marked(t, mark) == 4 })
	for range 2 {
		if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		eventually(t, time.Minute, "the listener is closed", d.refusesNewConnections)
	}
	_ = d.stop()
	if n := marked(t, mark); n != 0 {
		t.Errorf("%d processes of the servers are left", n)
	}
	c.mu.Lock()
	c.session = "" // no server is left to end it
	c.mu.Unlock()
}

// A server that asks for roots while being listed delays no caller, through any door.
func TestShrimpIsListedThroughEveryDoor(t *testing.T) {
	file := npmFile(t, "mcp-shrimp-task-manager", "dist", "index.js")
	config := fmt.Sprintf("[[servers]]\nid = \"shrimp\"\ncommand = %s\nenv.DATA_DIR = %q\n", toml([]string{need(t, "node"), file}), t.TempDir())
	d := startDaemon(t, config)
	const first = `"plan_task"`
	var doors sync.WaitGroup
	for _, version := range []string{"2025-11-25", modern} {
		for _, path := range []string{"/mcp", "/mcp/shrimp"} {
			doors.Go(func() {
				c := httpClient(t, d.program, path, version)
				c.capabilities = `{"roots":{}}`
				c.open()
				want := first
				if path == "/mcp" {
					want = `"shrimp::plan_task"`
				}
				if list := c.result("tools/list", ""); !strings.Contains(list, want) {
					t.Errorf("%s %s: tools/list lacks %s: %.300s", version, path, want, list)
				}
			})
		}
	}
	doors.Wait()
	if a := d.rpc(t, "shrimp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(a.body, first) {
		t.Errorf("the gateway's tools/list: %.300s", a.body)
	}
	c, _ := stdioClient(t, "2025-11-25", configFile(t, patient(config)))
	c.capabilities = `{"roots":{}}`
	c.answer = func(string, json.RawMessage) string { return `{"roots":[{"uri":"file:///tmp"}]}` }
	c.open()
	if list := c.result("tools/list", ""); !strings.Contains(list, `"shrimp::plan_task"`) {
		t.Errorf("on a pipe: %.300s", list)
	}
	c.close()
}
