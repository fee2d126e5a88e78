package config_test

import (
	"reflect"
	"slices"
	"testing"

	"secateur/internal/config"
)

func settings(t *testing.T, text string) config.Settings {
	t.Helper()
	cfg, mistakes := config.Load("f.toml", []byte(text), config.Options{})
	if len(mistakes) > 0 {
		t.Fatalf("%s: %v", text, mistakes)
	}
	return cfg.Settings
}

// A server has changed only if its process must.
func TestCompareServersByTheirProcess(t *testing.T) {
	const was = "[[servers]]\nid = \"a\"\ncommand = [\"x\"]\n"
	for _, c := range []struct {
		more    string
		keys    []string
		changed bool
	}{
		{"", nil, false},
		{"response_timeout = 5\nmask = false", []string{"servers.a.mask", "servers.a.response_timeout"}, false},
		{"mask_exempt = [\"b\"]\nstartup_timeout = 5\nshutdown_grace = 1", []string{"servers.a.mask_exempt", "servers.a.shutdown_grace", "servers.a.startup_timeout"}, false},
		{"cwd = \"/\"", nil, true},
		{"env = { A = \"b\" }\nmask = false", nil, true},
		{"isolation = \"per-session\"", nil, true},
		{"disabled = true", nil, true},
	} {
		got := config.CompareServers(settings(t, was).Servers, settings(t, was+c.more).Servers)
		slices.Sort(got.Keys)
		if !slices.Equal(got.Keys, c.keys) || (len(got.Changed) == 1) != c.changed || (len(got.Unchanged) == 1) == c.changed {
			t.Errorf("%q: %+v", c.more, got)
		}
	}
}

func TestCompareKeys(t *testing.T) {
	for _, c := range []struct {
		rule, before, after string
		want                []string
	}{
		{"the same", "page_size = 5", "page_size = 5", nil},
		{"a default written out is the same", "", "page_size = 1000", nil},
		{"a key of the top", "", "page_size = 5", []string{"page_size"}},
		{"keys of sections, each by itself", "", "[store]\nurl = \"memory:\"\n[observation_masking.mcp]\nenabled = false\nmax_chars = 50000", []string{"observation_masking.mcp.enabled", "observation_masking.mcp.max_chars", "store.url"}},
		{"a list is one key", "[[acl]]\naction = \"deny\"", "[[acl]]\naction = \"allow\"", []string{"acl"}},
		{"a secret", "auth_token = \"a\"", "auth_token = \"b\"", []string{"auth_token"}},
		{"names of the user's", "[providers.a]\nbase_url = \"http://a\"\n[providers.b]\nbase_url = \"http://b\"", "[providers.a]\nbase_url = \"http://x\"\n[providers.c]\nbase_url = \"http://c\"", []string{"providers.a.base_url", "providers.b", "providers.c"}},
		{"a date", "[[auth.tokens]]\nname = \"a\"\nhash = \"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"", "[[auth.tokens]]\nname = \"a\"\nhash = \"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\nexpires = \"2030-01-01T00:00:00Z\"", []string{"auth.tokens"}},
		{"a section that was not there", "", "[auth.jwt]\nissuer = \"https://id.example\"", []string{"auth.jwt"}},
		{"servers are told apart elsewhere", "", "[[servers]]\nid = \"a\"\ncommand = [\"x\"]", nil},
	} {
		if got := config.CompareKeys(settings(t, c.before), settings(t, c.after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestCompareServers(t *testing.T) {
	before := settings(t, `
[[servers]]
id = "same"
command = ["x"]
env = { A = "1" }
[[servers]]
id = "gone"
command = ["x"]
[[servers]]
id = "env"
command = ["x"]
env = { A = "1" }
[[servers]]
id = "off"
command = ["x"]
`)
	after := settings(t, `
[[servers]]
id = "new"
url = "http://h"
[[servers]]
id = "off"
command = ["x"]
disabled = true
[[servers]]
id = "env"
command = ["x"]
env = { A = "2" }
[[servers]]
id = "same"
command = ["x"]
env = { A = "1" }
`)
	got := config.CompareServers(before.Servers, after.Servers)
	want := config.ServerChanges{Added: []string{"new"}, Removed: []string{"gone"}, Changed: []string{"off", "env"}, Unchanged: []string{"same"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
