package config_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/llm/chat"
	"secateur/internal/mcp/catalog"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// environment makes a lookup function from NAME=value lines.
func environment(lines ...string) func(string) (string, bool) {
	env := map[string]string{}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

// load reads a configuration that must have no mistakes.
func load(t *testing.T, name, text string, env ...string) *config.Config {
	t.Helper()
	cfg, mistakes := config.Load(name, []byte(text), config.Options{Lookup: environment(env...)})
	for _, p := range mistakes {
		t.Errorf("mistake: %s", p)
	}
	return cfg
}

// TestGolden loads the configuration in each archive, with its "env" as the environment and its
// other files to read. It compares the result and all problems with "want".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob: %v, %d files", err, len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content := map[string][]byte{}
			for _, f := range archive.Files {
				content[f.Name] = f.Data
			}
			input := archive.Files[0]
			cfg, mistakes := config.Load(input.Name, input.Data, config.Options{
				Lookup: environment(strings.Split(string(content["env"]), "\n")...),
				Listen: strings.TrimSpace(string(content["listen"])),
				ReadFile: func(name string) ([]byte, error) {
					if data, ok := content[filepath.ToSlash(name)]; ok {
						return data, nil
					}
					return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
				},
			})
			var got strings.Builder
			for _, list := range [][]config.Problem{mistakes, cfg.Warnings} {
				for _, p := range list {
					fmt.Fprintf(&got, "%s: %s\n", p.Severity, p)
				}
			}
			if got.Len() == 0 {
				got.WriteString("nothing to say\n")
			}
			if *update {
				last := &archive.Files[len(archive.Files)-1]
				if last.Name != "want" {
					archive.Files = append(archive.Files, txtar.File{Name: "want"})
					last = &archive.Files[len(archive.Files)-1]
				}
				last.Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(content["want"]); got.String() != want {
				t.Errorf("problems:\n%s\nwant:\n%s", got.String(), want)
			}
		})
	}
}

func TestSampleLoadsWithItsDefaults(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	sample := load(t, "secateur.toml", string(text))
	if len(sample.Warnings) > 0 {
		t.Errorf("Warnings = %v, want none", sample.Warnings)
	}
	empty := load(t, "secateur.toml", "")

	// The sample's values equal those of an empty file, except for what only a sample has.
	sample.Servers, sample.Providers, sample.Models = nil, nil, nil
	sample.Naming.Clients = nil
	if got := sample.ObservationMasking.Schema1.Strategy; got != chat.Sliding {
		t.Errorf("the sample's strategy = %q", got)
	}
	sample.ObservationMasking.Schema1.Strategy = chat.Priced
	if !reflect.DeepEqual(sample.Settings, empty.Settings) {
		t.Errorf("the sample means %+v\nan empty file %+v", sample.Settings, empty.Settings)
	}
}

func TestSettingsArrive(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	cfg := load(t, "secateur.toml", string(text), "AUTH_TOKEN=tok", "MOONSHOT_API_KEY=key")
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"auth_token", cfg.AuthToken.Reveal(), "tok"},
		{"healthcheck_interval", cfg.HealthcheckInterval, 30 * time.Second},
		{"max_message_bytes", cfg.MaxMessageBytes, int64(33554432)},
		{"naming.clients", cfg.Naming.Clients["claude*"], catalog.ClientSettings{Separator: "-", MaxLength: 48}},
		{"command", cfg.Servers[0].Command, []string{"npx", "-y", "@modelcontextprotocol/server-everything"}},
		{"startup_timeout", cfg.Servers[0].StartupTimeout, 20 * time.Second},
		{"mask", *cfg.Servers[0].Mask, true},
		{
			"mcp marker", cfg.ObservationMasking.MCP.Marker,
			"\n⟦PRUNED chars {head}-{end} id={id}. Left out to save context; to read it, call {tool} with prune_id, start and end.⟧\n",
		},
		{"mcp exempt_media", cfg.ObservationMasking.MCP.ExemptMedia, true},
		{"ttl_s", cfg.Store.TTL, 24 * time.Hour},
		{"put_timeout_ms", cfg.Store.PutTimeout, 250 * time.Millisecond},
		{"deepinfra_timeout_ms", cfg.Pruner.DeepInfraTimeout, 20 * time.Second},
		{"api_key", cfg.Providers["kimi"].APIKey.Reveal(), "key"},
		{"prices", *cfg.Providers["kimi"].Prices.CachedInput, 0.16},
		{"cache_ttl_s", cfg.Providers["kimi"].Prices.CacheTTL, 300.0},
		{"model", cfg.Models["kimi/k2.6"].Model, "kimi-k2.6"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestStrategyWithoutBeingNamed(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"no section: priced", "", chat.Priced},
		{"a section without strategy: sliding", "[observation_masking.schema1]\nwindow_turns = 5", chat.Sliding},
		{"an empty section too", "[observation_masking]\nschema1 = {}", chat.Sliding},
		{"a section with strategy: that", "[observation_masking.schema1]\nstrategy = \"stepped\"", chat.Stepped},
	} {
		if got := load(t, "c.toml", c.text).ObservationMasking.Schema1.Strategy; got != c.want {
			t.Errorf("%s: strategy = %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestDefault(t *testing.T) {
	cfg, mistakes := config.Default(config.Options{Lookup: environment("AUTH_TOKEN=tok")})
	if len(mistakes)+len(cfg.Warnings) > 0 || cfg.Path != "" {
		t.Errorf("Default() = path %q, mistakes %v, warnings %v", cfg.Path, mistakes, cfg.Warnings)
	}
	if !cfg.Pruner.Enabled || len(cfg.Servers) != 1 || cfg.Servers[0].Builtin != "demo" || !cfg.ContextPruning.Enabled ||
		cfg.ObservationMasking.Schema1.Strategy != chat.Priced || cfg.AuthToken.Reveal() != "tok" {
		t.Errorf("Default() = %+v, want the pruner, the demo server and the recommended policies", cfg.Settings)
	}
	_, mistakes = config.Default(config.Options{Listen: "0.0.0.0:8000"})
	if len(mistakes) != 1 || !strings.HasPrefix(mistakes[0].String(), "command line: --listen: reachable") {
		t.Errorf("mistakes = %v, want --listen refused", mistakes)
	}
}

func TestPresetsLoad(t *testing.T) {
	for _, preset := range config.Presets() {
		cfg := load(t, preset+".toml", string(config.Init(preset)))
		if len(cfg.Warnings) > 0 {
			t.Errorf("preset %s: warnings %v", preset, cfg.Warnings)
		}
		uncommented := uncomment(string(config.Init(preset)))
		load(t, preset+"-all.toml", uncommented, "TOKEN=t")
	}
	if config.Init("nosuch") != nil {
		t.Error(`Init("nosuch") is not nil`)
	}
	kimi := load(t, "kimi.toml", string(config.Init(config.PresetKimi)))
	urls := map[string]string{}
	for _, s := range kimi.Servers {
		urls[s.ID] = s.URL + " " + s.Transport
	}
	want := map[string]string{
		"fast-filesystem":     "http://127.0.0.1:8004 rpc",
		"json-query":          "http://127.0.0.1:8005 rpc",
		"shrimp-task-manager": "http://127.0.0.1:8007 rpc",
		"sequential-thinking": "http://127.0.0.1:8003 rpc",
	}
	if !reflect.DeepEqual(urls, want) || kimi.Pruner.Port != 8006 || kimi.ObservationMasking.Schema1.Strategy != chat.Sliding {
		t.Errorf("preset kimi: servers %v, port %d, strategy %s", urls, kimi.Pruner.Port, kimi.ObservationMasking.Schema1.Strategy)
	}
}

// uncomment enables the examples in a preset's comments: lines that look like a header or a key.
func uncomment(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "# ")
		key, _, isKey := strings.Cut(rest, " = ")
		if ok && (strings.HasPrefix(rest, "[") || isKey && !strings.Contains(key, " ")) {
			line = rest
		}
		out.WriteString(line)
	}
	return out.String()
}

func TestExamplesLoad(t *testing.T) {
	for _, pattern := range []string{"../../examples/*.toml", "../../examples/*.json", "../../configs/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("Glob(%s): %v, %d files", pattern, err, len(files))
		}
		for _, file := range files {
			_, mistakes := config.LoadFile(file, config.Options{Lookup: environment(
				"GITHUB_TOKEN=x", "TOKEN=x", "AUTH_TOKEN=x", "DOCS_TOKEN=x")})
			for _, p := range mistakes {
				t.Errorf("%s", p)
			}
		}
	}
}

func TestExampleIsThePreset(t *testing.T) {
	example, err := os.ReadFile("../../examples/secateur.toml")
	if err != nil {
		t.Fatal(err)
	}
	if string(example) != string(config.Init(config.PresetDefault)) {
		t.Error("examples/secateur.toml is not what `secateur init` writes")
	}
}

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, make([]byte, config.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, path, want string
		readFile         func(string) ([]byte, error)
	}{
		{"a missing file is said to be missing", filepath.Join(dir, "no.toml"), "no such file", nil},
		{"a directory is no file", dir, "is a directory", nil},
		{"a file that is too large is not read", big, "larger than 4194304 bytes", nil},
		{"reading may be handed in", "x.toml", "it rained", func(string) ([]byte, error) { return nil, errors.New("it rained") }},
	} {
		_, mistakes := config.LoadFile(c.path, config.Options{ReadFile: c.readFile})
		if len(mistakes) != 1 || mistakes[0].String() != c.path+": "+c.want {
			t.Errorf("%s: mistakes = %v, want %q", c.rule, mistakes, c.want)
		}
	}
}

func TestDir(t *testing.T) {
	dir, err := filepath.Abs("sub")
	if err != nil {
		t.Fatal(err)
	}
	if got := (&config.Config{Path: "sub/c.toml"}).Dir(); got != dir {
		t.Errorf("Dir() = %q, want %q", got, dir)
	}
	if got := (&config.Config{}).Dir(); got != "" {
		t.Errorf("Dir() of the built-in default = %q, want none", got)
	}
}

// The id of the program's own templates is reserved: a client's file that lists us would make us
// start ourselves.
func TestOwnIDIsReserved(t *testing.T) {
	for name, text := range map[string]string{
		"c.toml": "[[servers]]\nid = \"secateur\"\nbuiltin = \"demo\"\n",
		"c.json": `{"mcpServers":{"secateur":{"command":"x"}}}`,
	} {
		if _, mistakes := config.Load(name, []byte(text), config.Options{}); len(mistakes) != 1 || !strings.Contains(mistakes[0].String(), "this program's own id") {
			t.Errorf("%s: %v", name, mistakes)
		}
	}
}

func TestTheModeOfMCPMaskingFollowsWhatIsWritten(t *testing.T) {
	for _, c := range []struct {
		rule, text  string
		mode        string
		max, target int
	}{
		{"nothing: goal", "", config.MaskGoal, 10000, 8000},
		{"head_chars without mode: head_tail", "head_chars = 500", config.MaskHeadTail, 20000, 8000},
		{"tail_chars without mode: head_tail", "tail_chars = 500\nmax_chars = 12000", config.MaskHeadTail, 12000, 8000},
		{"mode decides", "mode = \"goal\"\nhead_chars = 500", config.MaskGoal, 10000, 8000},
		{"head_tail by itself", "mode = \"head_tail\"", config.MaskHeadTail, 20000, 8000},
		{"a small max_chars has a smaller target", "max_chars = 1000", config.MaskGoal, 1000, 800},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := load(t, "secateur.toml", "[observation_masking.mcp]\n"+c.text).ObservationMasking.MCP
			if got.Mode != c.mode || got.MaxChars != c.max || got.TargetChars != c.target {
				t.Errorf("%s, max_chars %d, target_chars %d", got.Mode, got.MaxChars, got.TargetChars)
			}
		})
	}
}
