package originals_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/store/originals"

	"github.com/pelletier/go-toml/v2"
)

func TestDefaultIsValid(t *testing.T) {
	d := originals.Default()
	if err := d.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	if d.TTL != 24*time.Hour || d.PutTimeout != 250*time.Millisecond {
		t.Errorf("TTL %v, put timeout %v", d.TTL, d.PutTimeout)
	}
}

func TestSettingsAreReadByTheirNames(t *testing.T) {
	var got originals.Settings
	err := toml.NewDecoder(strings.NewReader("url = 'file:x'\nmax_bytes = 1\nwhen_full = 'oldest'\n")).
		DisallowUnknownFields().Decode(&got)
	// durations are in seconds, which config decodes
	want := originals.Settings{URL: "file:x", MaxBytes: 1, WhenFull: "oldest"}
	if err != nil || got != want {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}

func TestValidateReportsEveryMistake(t *testing.T) {
	for _, c := range []struct {
		rule string
		set  func(*originals.Settings)
		want []string // empty: valid
	}{
		{"memory", func(s *originals.Settings) { s.URL = "memory:" }, nil},
		{"memory as a URL", func(s *originals.Settings) { s.URL = "memory://" }, nil},
		{"memory with something behind", func(s *originals.Settings) { s.URL = "memory:x" }, []string{"url: memory:"}},
		{"a directory", func(s *originals.Settings) { s.URL = "file:/var/x" }, nil},
		{"a directory as a URL", func(s *originals.Settings) { s.URL = "file:///var/x" }, nil},
		{"a directory on another host", func(s *originals.Settings) { s.URL = "file://host/x" }, []string{"url: file://HOST"}},
		{"no directory", func(s *originals.Settings) { s.URL = "file:" }, []string{"url: file: needs"}},
		{"a directory with a NUL", func(s *originals.Settings) { s.URL = "file:a\x00" }, []string{"url: file: needs"}},
		{"another user's home", func(s *originals.Settings) { s.URL = "file:~bob/x" }, []string{"url: only ~"}},
		{"redis", func(s *originals.Settings) { s.URL = "redis://h" }, nil},
		{"redis, found by Sentinel", func(s *originals.Settings) { s.URL = "redis://a:26379?addr=b:26379&master_name=m&password=x" }, nil},
		{"redis as a cluster, with TLS", func(s *originals.Settings) { s.URL = "rediss://u:p@a:6379?addr=b:6379" }, nil},
		{"redis on a socket", func(s *originals.Settings) { s.URL = "unix:///run/redis.sock?db=2" }, nil},
		{"redis nowhere", func(s *originals.Settings) { s.URL = "redis:" }, []string{"url: not a Redis URL"}},
		{"redis with a database that is no number", func(s *originals.Settings) { s.URL = "redis://h/x" }, []string{"url: not a Redis URL"}},
		{"redis with an option that there is not", func(s *originals.Settings) { s.URL = "redis://h?nonsense=1" }, []string{"url: not a Redis URL"}},
		{"nothing", func(s *originals.Settings) { s.URL = "" }, nil},
		{"a bare path", func(s *originals.Settings) { s.URL = "/var/x" }, []string{"url: not a store"}},
		{"another kind", func(s *originals.Settings) { s.URL = "s3:x" }, []string{"url: unknown kind"}},
		{"no room", func(s *originals.Settings) { s.MaxBytes = 0 }, []string{"max_bytes: 0"}},
		{"nothing said of a full one", func(s *originals.Settings) { s.WhenFull = "" }, nil},
		{"another way out when full", func(s *originals.Settings) { s.WhenFull = "newest" }, []string{`when_full: "newest" is none of refuse, oldest`}},
		{"no time", func(s *originals.Settings) { s.TTL = 0 }, []string{"ttl_s: 0"}},
		{"for ever", func(s *originals.Settings) { s.TTL = math.MaxInt64 }, []string{"ttl_s: 9.2"}},
		{"no limit on a put", func(s *originals.Settings) { s.PutTimeout = 0 }, nil},
		{"a negative limit", func(s *originals.Settings) { s.PutTimeout = -time.Millisecond }, []string{"put_timeout_ms: -1"}},
		{
			"all of them", func(s *originals.Settings) { *s = originals.Settings{URL: "x", PutTimeout: -time.Millisecond} },
			[]string{"url:", "max_bytes:", "ttl_s:", "put_timeout_ms:"},
		},
	} {
		s := originals.Default()
		c.set(&s)
		err := s.Validate()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: Validate = %v", c.rule, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: Validate = %v, want %q in it", c.rule, err, want)
			}
		}
	}
}

func TestValidateKeepsAPasswordToItself(t *testing.T) {
	for _, url := range []string{"redis://user:hunter2@host/x", "redis://host?hunter2=1", "hunter2", "x://hunter2@y", "file://hunter2@host/x", "memory:hunter2"} {
		s := originals.Default()
		s.URL = url
		if err := s.Validate(); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Validate(%s) = %v", url, err)
		}
		if _, err := originals.Open(originals.Options{Settings: s}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%s) = %v", url, err)
		}
	}
}

func TestOpenChoosesByURL(t *testing.T) {
	base, home := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		rule, url, kind, dir string
	}{
		{"memory", "memory:", "memory", ""},
		{"an absolute directory", "file:" + filepath.Join(base, "abs"), "file", filepath.Join(base, "abs")},
		{"an absolute directory as a URL", "file://" + filepath.Join(base, "url"), "file", filepath.Join(base, "url")},
		{"a relative directory starts at the base", "file:state/originals", "file", filepath.Join(base, "state/originals")},
		{"~ is home", "file:~/originals", "file", filepath.Join(home, "originals")},
		{"in any case", "FILE:case", "file", filepath.Join(base, "case")},
	} {
		s := originals.Default()
		s.URL = c.url
		store, err := originals.Open(originals.Options{Settings: s, Base: base, Home: home})
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		keep(t, store, "text")
		if got := store.Stats(); got.Kind != c.kind || got.Count != 1 || got.MaxBytes != s.MaxBytes {
			t.Errorf("%s: Stats = %+v", c.rule, got)
		}
		if c.dir != "" {
			if entries, err := os.ReadDir(c.dir); err != nil || len(entries) == 0 {
				t.Errorf("%s: nothing in %s: %v", c.rule, c.dir, err)
			}
		}
		if err := store.Close(); err != nil {
			t.Errorf("%s: Close: %v", c.rule, err)
		}
	}
}

func TestOpenNeedsToKnowWhere(t *testing.T) {
	for url, want := range map[string]string{
		"file:~/x":      "no home directory",
		"file:relative": "relative",
		"redis://h":     "no engine",
	} {
		s := originals.Default()
		s.URL = url
		if _, err := originals.Open(originals.Options{Settings: s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, want %q in it", url, err, want)
		}
	}
}
