package test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/store/redisdb/redistest"
)

// Clients that listen at one replica hear that another replica's child process has changed a list.
// They may list there next time. They also do after a lost connection to the engine, because news
// may have been missed.
func TestListChangesReachClientsOfOtherReplicas(t *testing.T) {
	server := redistest.Start(t)
	text := fmt.Sprintf("[store]\nurl = %q\n", server.URL) + peerConfig(t, "s", "plain", "startup_timeout = 60")
	here := start(t, text)
	caller := httpClient(t, here, "/mcp", "2025-11-25")
	caller.open()
	caller.result("tools/list", "") // its server runs
	there := start(t, text)
	listener := httpClient(t, there, "/mcp", "2025-11-25")
	listener.opened = func() { listener.listen(there, "/mcp") }
	listener.open()
	listener.result("tools/list", "")
	heard := func() int { return len(listener.notices("notifications/tools/list_changed")) }
	// It is unknown when the other replica starts to listen, so repeat until it does.
	eventually(t, time.Minute, "a change at another replica is told", func() bool {
		caller.tool("s::grow", `{}`)
		return waited(2*time.Second, func() bool { return heard() > 0 })
	})
	before := heard()
	engine := server.Client()
	defer func() { _ = engine.Close() }()
	if err := engine.Do(t.Context(), "client", "kill", "type", "pubsub").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "what may have been missed is told", func() bool { return heard() > before })
}

// waited reports whether something happens within a while.
func waited(within time.Duration, done func() bool) bool {
	for end := time.Now().Add(within); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// When one replica is told to reload its configuration, the others reload too: if they share the
// file, they have the same.
func TestReloadReachesOtherReplicas(t *testing.T) {
	server := redistest.Start(t)
	text := fmt.Sprintf("listen = \"127.0.0.1:0\"\n[admin]\nwatch = false\n[store]\nurl = %q\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n", server.URL)
	file := configFile(t, text)
	load := func() (*config.Config, []config.Problem) {
		return config.LoadFile(file, config.Options{Lookup: os.LookupEnv})
	}
	run := func() *program {
		cfg, problems := load()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return startIn(t, cfg, t.TempDir(), func(o *app.Options) { o.Load, o.Level = load, new(slog.LevelVar) })
	}
	here, there := run(), run()
	n := 0
	eventually(t, time.Minute, "the other replica has read it again", func() bool {
		n++
		here.reload(t, file, fmt.Sprintf("page_size = %d\n%s", 100+n, text))
		return waited(2*time.Second, func() bool { return strings.Contains(there.get(t, "/metrics"), `secateur_reloads_total{outcome="ok"}`) })
	})
}
