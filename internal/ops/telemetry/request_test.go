package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/secret"
)

func TestARequestHasTheIDThatWasSentOrOneOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		rule, sent string
		taken      bool
	}{
		{"letters, digits and signs", "Az09._-", true},
		{"as long as allowed", strings.Repeat("a", 128), true},
		{"too long", strings.Repeat("a", 129), false},
		{"none", "", false},
		{"a space", "a b", false},
		{"a line break, to forge a line of the log", "a\nlevel=ERROR", false},
		{"a quote", `a"b`, false},
		{"not ASCII", "é", false},
	} {
		ctx, id := telemetry.WithRequest(t.Context(), c.sent, nil)
		if (id == c.sent) != c.taken || telemetry.RequestID(ctx) != id {
			t.Errorf("%s: id %q, in its context %q", c.rule, id, telemetry.RequestID(ctx))
		}
		if !c.taken && !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) {
			t.Errorf("%s: made id %q", c.rule, id)
		}
	}
	if id := telemetry.RequestID(t.Context()); id != "" {
		t.Errorf("a context of no request has the id %q", id)
	}
}

func TestMessagesWithoutHTTPHaveAnIDEach(t *testing.T) {
	pipe := telemetry.WithTracing(t.Context(), nil)
	first, second := telemetry.RequestID(telemetry.WithOwnRequest(pipe)), telemetry.RequestID(telemetry.WithOwnRequest(pipe))
	if first == "" || first == second {
		t.Errorf("two messages have the ids %q and %q", first, second)
	}
	posted, id := telemetry.WithRequest(t.Context(), "", nil)
	if again := telemetry.RequestID(telemetry.WithOwnRequest(posted)); again != id {
		t.Errorf("a message of the request %s has the id %s", id, again)
	}
}

// A context derived from a request's ends with it, without a waiting goroutine.
func TestRequestsEndTheirContexts(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx, _ := telemetry.WithRequest(parent, "a", nil)
	child, stop := context.WithCancel(ctx)
	defer stop()
	cancel()
	if child.Err() == nil {
		t.Error("the context goes on when its request has ended: it is not a child of the request's context")
	}
}

func TestLinesAboutARequestNameIt(t *testing.T) {
	for _, structured := range []bool{false, true} {
		var out bytes.Buffer
		log := telemetry.NewLogger(&out, slog.LevelInfo, structured).With("server", "files")
		ctx, _ := telemetry.WithRequest(t.Context(), "abc-1", nil)
		log.InfoContext(ctx, "about it")
		log.InfoContext(t.Context(), "about something else")
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if !strings.Contains(lines[0], "request_id") || !strings.Contains(lines[0], "abc-1") || strings.Contains(lines[1], "request_id") {
			t.Errorf("lines %q, want the first alone with its request", lines)
		}
	}
}

func TestWhatIsLoggedIsAnEvent(t *testing.T) {
	feed := events.New()
	log := telemetry.LogToEvents(telemetry.NewLogger(t.Output(), slog.LevelInfo, false), feed)
	ctx, _ := telemetry.WithRequest(t.Context(), "abc-1", nil)
	of := log.With("server", "files", "pid", 7)
	of.WarnContext(ctx, "server restarted", "why", "it exited", "key", secret.New("hunter2"))
	of.DebugContext(ctx, "not for this level")
	log.WithGroup("g").InfoContext(ctx, "grouped", slog.Group("in", "a", 1))
	log.InfoContext(ctx, "long", "text", strings.Repeat("x", 10_000))
	got := feed.Recent(events.TypeLog, 10)
	if len(got) != 3 {
		t.Fatalf("%d events, want three", len(got))
	}
	first, _ := got[2].Data.(events.Log)
	if first.Server != "files" || first.Level != "WARN" || first.RequestID != "abc-1" || first.At.IsZero() ||
		first.Text != `server restarted pid=7 why="it exited" key=[secret]` {
		t.Errorf("%+v", first)
	}
	if grouped, _ := got[1].Data.(events.Log); grouped.Text != "grouped g.in.a=1" {
		t.Errorf("grouped: %q", grouped.Text)
	}
	if long, _ := got[0].Data.(events.Log); len(long.Text) > 4200 {
		t.Errorf("a text of %d bytes is remembered", len(long.Text))
	}
}
