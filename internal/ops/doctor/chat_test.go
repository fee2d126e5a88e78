package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"secateur/internal/ops/doctor"
)

func TestBaseURLsHaveThePathThatTheirClientsExpect(t *testing.T) {
	both := doctor.Door{Listen: "127.0.0.1:8000", Messages: true, Others: true}
	for _, tt := range []struct {
		name, url string
		door      doctor.Door
		level     doctor.Level
		part      string
	}{
		{"ANTHROPIC_BASE_URL", "http://127.0.0.1:8000", both, doctor.OK, "points at 127.0.0.1:8000"},
		{"ANTHROPIC_BASE_URL", "http://localhost:8000/", both, doctor.OK, "ANTHROPIC_API_KEY is not set"},
		{"ANTHROPIC_BASE_URL", "http://127.0.0.1:8000/v1", both, doctor.Fail, "/v1, where clients expect none"},
		{"ANTHROPIC_BASE_URL", "http://127.0.0.1:8000", doctor.Door{Listen: both.Listen, Others: true}, doctor.Fail, "no provider here speaks its format"},
		{"OPENAI_BASE_URL", "http://127.0.0.1:8000/v1/", both, doctor.OK, "points at"},
		{"OPENAI_API_BASE", "http://127.0.0.1:8000", both, doctor.Fail, "none, where clients expect /v1"},
		{"OPENAI_BASE_URL", "http://127.0.0.1:8000", both, doctor.Fail, "none, where clients expect /v1"},
		{"OPENAI_BASE_URL", "http://127.0.0.1:8000/v1", doctor.Door{Listen: both.Listen, Messages: true}, doctor.Fail, "no provider here speaks its format"},
	} {
		only := func(name string) (string, bool) {
			if name != tt.name {
				return "", false
			}
			return tt.url, true
		}
		want(t, doctor.CheckBaseURLs(tt.door, doctor.Files{}, only), tt.level, tt.part)
	}
	for _, url := range []string{"https://api.example.com:8000/v1", "http://127.0.0.1:9000/x"} {
		elsewhere := func(string) (string, bool) { return url, true }
		if found := doctor.CheckBaseURLs(both, doctor.Files{}, elsewhere)(t.Context()); len(found) != 0 {
			t.Errorf("%s is not ours to judge: %+v", url, found)
		}
	}
}

func TestBaseURLsInClientsFilesAreJudged(t *testing.T) {
	home := t.TempDir()
	plant := func(name, text string) string {
		file := filepath.Join(home, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	none := func(string) (string, bool) { return "", false }
	both := doctor.Door{Listen: "127.0.0.1:8000", Messages: true, Others: true}
	others := doctor.Door{Listen: both.Listen, Others: true}
	claude := func(text string) doctor.Files { return doctor.Files{Claude: plant("settings.json", text)} }
	codex := func(text string) doctor.Files { return doctor.Files{Codex: plant("config.toml", text)} }
	opencode := func(text string) doctor.Files { return doctor.Files{OpenCode: plant("opencode.json", text)} }
	want(t, doctor.CheckBaseURLs(both, claude(`{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:8000","ANTHROPIC_API_KEY":"k"}}`), none), doctor.OK, "points at 127.0.0.1:8000")
	want(t, doctor.CheckBaseURLs(both, codex(`openai_base_url = "http://localhost:8000/v1"`), none), doctor.OK, "points at localhost:8000")
	want(t, doctor.CheckBaseURLs(both, codex("[model_providers.x]\nbase_url = \"http://127.0.0.1:8000\"\n"), none), doctor.Fail, "none, where clients expect /v1")
	want(t, doctor.CheckBaseURLs(both, opencode(`{"provider":{"anthropic":{"options":{"baseURL":"http://127.0.0.1:8000/v1"}}}}`), none), doctor.OK, "points at")
	want(t, doctor.CheckBaseURLs(both, opencode(`{"provider":{"anthropic":{"options":{"baseURL":"http://127.0.0.1:8000"}}}}`), none), doctor.Fail, "none, where clients expect /v1")
	want(t, doctor.CheckBaseURLs(others, opencode(`{"provider":{"anthropic":{"options":{"baseURL":"http://127.0.0.1:8000/v1"}}}}`), none), doctor.Fail, "no provider here speaks its format")
	for _, f := range []doctor.Files{codex("= broken"), opencode("// comment"), codex(`openai_base_url = "https://api.openai.com/v1"`)} {
		if found := doctor.CheckBaseURLs(both, f, none)(t.Context()); len(found) != 0 {
			t.Errorf("%+v", found)
		}
	}
}
