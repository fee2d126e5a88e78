package child

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"secateur/internal/secret"
)

// People and models see a child's standard error, but not the secrets of its environment.
func TestStderrHidesTheSecretsOfTheEnvironment(t *testing.T) {
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	env := map[string]secret.Text{
		"API_KEY": secret.New("sk-canary-0123456789"), "LONGER": secret.New("sk-canary-0123456789-and-more"), "DEBUG": secret.New("1"),
	}
	tail := stderrTail{log: log, secrets: secretsOf(env)}
	tail.drain(strings.NewReader("connect with sk-canary-0123456789-and-more failed\n" + "key=sk-canary-0123456789;\nline 1\n"))
	if got, want := tail.last(10), "connect with [secret] failed\nkey=[secret];\nline 1"; got != want {
		t.Errorf("the end of its standard error is %q, want %q", got, want)
	}
	if strings.Contains(logged.String(), "canary") {
		t.Errorf("logged: %s", logged.String())
	}
}

func TestAChildsOwnSecretsAreHidden(t *testing.T) {
	p, err := Start(Program{
		ID: "x", Command: []string{"/bin/sh", "-c", "echo key $K >&2"}, Env: map[string]secret.Text{"K": secret.New("sk-canary-0123456789")},
		Grace: time.Second, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	p.Stop()
	if got := p.Stderr(10); got != "key [secret]" {
		t.Errorf("its standard error is shown as %q, want the key hidden", got)
	}
}
