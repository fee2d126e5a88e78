package doctor_test

import (
	"testing"

	"secateur/internal/doctor"
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
		{"OPENAI_BASE_URL", "http://127.0.0.1:8000", both, doctor.Fail, "none, where clients expect /v1"},
		{"OPENAI_BASE_URL", "http://127.0.0.1:8000/v1", doctor.Door{Listen: both.Listen, Messages: true}, doctor.Fail, "no provider here speaks its format"},
	} {
		only := func(name string) (string, bool) {
			if name != tt.name {
				return "", false
			}
			return tt.url, true
		}
		want(t, doctor.CheckBaseURLs(tt.door, "", only), tt.level, tt.part)
	}
	for _, url := range []string{"https://api.example.com:8000/v1", "http://127.0.0.1:9000/x"} {
		elsewhere := func(string) (string, bool) { return url, true }
		if found := doctor.CheckBaseURLs(both, "", elsewhere)(t.Context()); len(found) != 0 {
			t.Errorf("%s is not ours to judge: %+v", url, found)
		}
	}
}
