package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/ops/doctor"
)

func TestDoctorLooksAtTheModelsHalf(t *testing.T) {
	home := t.TempDir()
	plant := func(name, text string) string {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	plant(".codex/config.toml", `openai_base_url = "http://127.0.0.1:0"`)
	plant(".config/opencode/opencode.json", `{"provider":{"anthropic":{"options":{"baseURL":"http://127.0.0.1:0/v1"}}}}`)
	plant(".claude/settings.json", `{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:0","ENABLE_TOOL_SEARCH":"false"}}`)
	for _, tt := range []struct{ provider, store string }{{"anthropic", "warn"}, {"openai", "ok"}} {
		file := plant("secateur.toml", "listen = \"127.0.0.1:0\"\nstore.url = \"memory:\"\n[providers."+tt.provider+"]\nbase_url = \"http://127.0.0.1:1/v1\"\n")
		var out, said bytes.Buffer
		w := world{in: strings.NewReader(""), out: &out, err: &said, home: home, stateDir: t.TempDir()}
		run(context.Background(), []string{"doctor", "--config", file, "--json"}, w)
		var r doctor.Report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s %s", err, out.String(), said.String())
		}
		has := func(level doctor.Level, part string) {
			t.Helper()
			if !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool {
				return f.Level == level && strings.Contains(f.Check+" "+f.Subject+": "+f.Cause+"; "+f.Fix, part)
			}) {
				t.Errorf("%s: no finding %s %q in %s", tt.provider, level, part, out.String())
			}
		}
		has(doctor.Fail, "config.toml")
		has(doctor.Warn, "ENABLE_TOOL_SEARCH")
		has(doctor.Level(tt.store), "store memory:")
		if tt.provider == "anthropic" {
			has(doctor.OK, "provider.anthropic.options.baseURL")
			has(doctor.OK, "ANTHROPIC_BASE_URL: points at")
			has(doctor.Warn, "goes on as a new one, or forked")
			continue
		}
		has(doctor.Fail, "no provider here speaks its format")
	}
}
