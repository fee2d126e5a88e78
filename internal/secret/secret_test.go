package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"secateur/internal/secret"
)

func TestNeverShown(t *testing.T) {
	const canary = "sk-canary"
	s := secret.New(canary)
	type holder struct {
		Key   secret.Text            `json:"key"`
		Inner map[string]secret.Text `json:"inner"`
	}
	h := holder{Key: s, Inner: map[string]secret.Text{"k": s}}

	var logged bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&logged, nil))
	log.Info("x", "secret", s, "holder", h, "pointer", &h)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "secret", s, "holder", h)
	j, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{logged.String(), string(j)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &s))
	}
	for _, out := range shown {
		if strings.Contains(out, canary) || strings.Contains(out, fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret is shown in %q", out)
		}
	}
	if s.Reveal() != canary {
		t.Errorf("Reveal() = %q", s.Reveal())
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		rule, have, given string
		want              bool
	}{
		{"the same text matches", "a", "a", true},
		{"another text does not", "a", "b", false},
		{"a prefix does not", "ab", "a", false},
		{"an empty secret matches nothing, not even emptiness", "", "", false},
	} {
		if got := secret.New(c.have).Matches(c.given); got != c.want {
			t.Errorf("%s: Matches = %v, want %v", c.rule, got, c.want)
		}
	}
}
