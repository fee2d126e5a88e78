package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"

	"secateur/internal/config/document"
)

// plain converts a tree into the result of general decoders. Numbers become float64, dates nil.
func plain(n *node) any {
	switch n.kind {
	case kindTable:
		out := map[string]any{}
		for _, m := range n.members {
			out[m.name] = plain(m.value)
		}
		return out
	case kindList:
		out := []any{}
		for _, item := range n.items {
			out = append(out, plain(item))
		}
		return out
	case kindString:
		return n.text
	case kindBool:
		return n.text == "true"
	case kindInteger, kindFloat:
		f, err := n.float()
		if err != nil {
			return err
		}
		if math.IsNaN(f) {
			return "NaN" // is not equal to itself
		}
		return f
	default:
		return nil
	}
}

// plainGo converts the result of a general decoder into the same form.
func plainGo(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plainGo(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = plainGo(v[i])
		}
		if v == nil {
			return []any{}
		}
		return v
	case int64:
		return float64(v)
	case float64:
		if math.IsNaN(v) {
			return "NaN"
		}
		return v
	case toml.LocalDate, toml.LocalDateTime, toml.LocalTime, time.Time:
		return nil
	default:
		return v
	}
}

// FuzzTOMLTree compares our reading of TOML with the library's decoder.
func FuzzTOMLTree(f *testing.F) {
	for _, s := range []string{
		"a = 1\n[b]\nc.d = 'x'\n[[e]]\nf = [1, {g = 2}]\n[[e]]\n[e.h]\n",
		"[a.b]\n[a]\nb.c = 1", "a.b = 1\n[a.c]", "a = {b.c = 1, b.d = 2}\na.e = 1", "[[a]]\n[a]", "a = []\n[[a]]", "[a]\n[[a]]",
		"a.b = 1\na = 2", "a = 1\na.b = 2", "[a]\nb.c = 1\n[a.b]\nd = 1", "[a]\nb.c = 1\n[a.b.d]", "[[a.b]]\n[a.b.c]\n[[a.b]]\n[a.b.c]",
		"a = +1_000.5e-3\nb = 0xff\nc = inf\nd = 1979-05-27\ne = \"\"\"\nx\"\"\"", "\"\" = 1\n'a b'.c = true",
		"[a]\n[b]\n[a]", "[x.y.z.w]\n[x]\n[x.y]\n[x.y.z]", "fruit = []\n[fruit.x]", "[[f.p]]\n[f]\nq = 1\n[[f.p]]\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, found, whole := parseTOML(data)
		for _, x := range found {
			if strings.Contains(x.text, errDepth.Error()) {
				return // our own limit
			}
		}
		var want map[string]any
		err := toml.Unmarshal(data, &want)
		ours := whole && len(found) == 0
		if err != nil {
			// The decoder also checks numbers and dates; we do that where they are used.
			if ours && !strings.Contains(err.Error(), "toml: ") {
				t.Fatalf("%q: the library says %v, we say nothing", data, err)
			}
			if ours && (strings.Contains(err.Error(), "already") || strings.Contains(err.Error(), "should be a table")) {
				t.Fatalf("%q: the library says %v, we say nothing", data, err)
			}
			return
		}
		if !ours {
			t.Fatalf("%q: the library is content, we say %v", data, found)
		}
		if want == nil {
			want = map[string]any{}
		}
		if got := plain(root); !reflect.DeepEqual(got, plainGo(want)) {
			t.Fatalf("%q:\n got %v\nwant %v", data, got, want)
		}
	})
}

// FuzzJSONTree compares our reading of JSON with encoding/json's, and checks that blanking does not
// change valid JSON.
func FuzzJSONTree(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 2.5e3, "x\u00e9\"//", true, null, {}], "b": {"c": []}}`, `{"a": 1, // x` + "\n" + `}`, `{,}`, `[1,]`, `{"a":1,/**/}`, `/*`, `"\`,
		`{"a":1}x`, `{"a"`, ``, `{"a":1,"a":2}`, `[/*,*/]`, `[1 /*]*/ ]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		blanked := document.PlainJSON(data)
		if len(blanked) != len(data) || bytes.Count(blanked, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Fatalf("PlainJSON(%q) = %q: positions moved", data, blanked)
		}
		valid := jsontext.Value(data).IsValid()
		if valid && !bytes.Equal(blanked, data) {
			t.Fatalf("PlainJSON(%q) = %q: changed valid JSON", data, blanked)
		}
		root, found, whole := parseJSON(data)
		if !valid || data[bytes.IndexFunc(data, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })] != '{' {
			return
		}
		if !whole {
			for _, x := range found {
				if strings.Contains(x.text, errDepth.Error()) {
					return
				}
			}
			t.Fatalf("parseJSON(%q) refused: %v", data, found)
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			return // a number beyond float64
		}
		if got := plain(root); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q:\n got %v\nwant %v", data, got, want)
		}
	})
}

// FuzzLoad checks that no file makes Load panic in any format, and that positions lie within the
// file.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${A}"], "env": {"B": 1}, "timeout": 1e9, "envFile": "x"}}}`))
	f.Add([]byte("[[servers]]\nid = \"a\"\ncommand = [\"x\"]\n[servers.env]\nTOKEN = \"${A:-b}\"\n"))
	f.Add([]byte("[mcp_servers.x]\nenv_vars = [1]\nbearer_token_env_var = 3\nenv_http_headers = {a = 1}\nheaders = 1\ntype = []"))
	f.Add([]byte("\xef\xbb\xbflisten = \":1\"\r\n[providers.\"a b\".prices]\ninput = -1\n[models.x]\nprovider = \"y\""))
	for _, preset := range Presets() {
		f.Add(Init(preset))
	}
	f.Add(Schema())
	f.Fuzz(func(t *testing.T, data []byte) {
		lookup := func(name string) (string, bool) { return name, len(name)%2 == 0 && !strings.Contains(name, "_") }
		readFile := func(string) ([]byte, error) { return data, nil }
		for _, name := range []string{"c.toml", "c.json", "c"} {
			cfg, mistakes := Load(name, data, Options{Lookup: lookup, ReadFile: readFile})
			lines := bytes.Count(data, []byte("\n")) + 1
			for _, p := range append(mistakes, cfg.Warnings...) {
				if p.Line > lines || p.Line < 0 || p.Text == "" {
					t.Fatalf("%s of %d lines: %+v", name, lines, p)
				}
				_ = p.String()
			}
		}
	})
}

func TestReadableText(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{
			"a byte order mark and Windows line ends are fine", "\xef\xbb\xbfpage_size = 5\r\n\r\nlisen = 2\r\n",
			`c.toml:3:1: lisen: unknown key; did you mean "listen"?`,
		},
		{"columns count characters", "naming = { separator = \"é\", x = 1 }", `c.toml:1:29: naming.x: unknown key`},
		{"what is not UTF-8 is named with its place", "# é\n# \xff\n", "c.toml:2:3: not valid UTF-8"},
		{"UTF-16 is named", "\xff\xfea\x00", "c.toml: the file is in UTF-16; save it as UTF-8"},
		{"a file that is too large is refused", strings.Repeat("#", MaxBytes+1), "c.toml: larger than 4194304 bytes"},
	} {
		_, mistakes := Load("c.toml", []byte(c.text), Options{})
		if len(mistakes) != 1 || mistakes[0].String() != c.want {
			t.Errorf("%s: mistakes = %v, want %q", c.rule, mistakes, c.want)
		}
	}
}

// TestSecretsAreNeverShown puts a secret everywhere it may occur, rightly or wrongly, and looks for
// it in all output.
func TestSecretsAreNeverShown(t *testing.T) {
	const canary = "sk-canary-0123456789"
	text := strings.ReplaceAll(`
auth_token = "CANARY"
log_level = "${CANARY}"
allowed_hosts = ["https://CANARY/"]
[[servers]]
id = "a"
url = "ftp://u:CANARY@h"
headers = { Authorization = "Bearer CANARY\u0000", "bad name" = "CANARY", Accept = "CANARY" }
[[servers]]
id = "b"
command = ["x"]
env = { TOKEN = "CANARY", "A=B" = "CANARY", NUL = "CANARY\u0000" }
transport = "${CANARY}"
[providers.p]
base_url = "CANARY"
api_key = "CANARY"
[store]
url = "redis://:CANARY@h/none"
[mcp_pruner]
deepinfra_api_key = "CANARY"
rerank_url = "CANARY"
`, "\"CANARY", "\""+canary)
	text = strings.NewReplacer("u:CANARY", "u:"+canary, " CANARY\\u", " "+canary+"\\u", ":CANARY@", ":"+canary+"@", "//CANARY/", "//"+canary+"/").Replace(text)
	lookup := func(name string) (string, bool) { return canary, name == "CANARY" }
	cfg, mistakes := Load("c.toml", []byte(text), Options{Lookup: lookup})
	said := fmt.Sprintf("%v %v", mistakes, cfg.Warnings)
	if strings.Contains(said, canary) || strings.Contains(said, "CANARY@") {
		t.Errorf("the secret is shown: %s", said)
	}
	if len(mistakes) < 9 || len(cfg.Warnings) < 6 {
		t.Errorf("%d mistakes, %d warnings: %s", len(mistakes), len(cfg.Warnings), said)
	}
}

func TestYAMLNestsNoDeeperThanOtherFiles(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte("a: " + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "\n")
	}
	if _, found, whole := parseYAML(nested(maxDepth)); !whole || len(found) > 0 {
		t.Errorf("as deep as may be: %v", found)
	}
	_, found, whole := parseYAML(nested(maxDepth + 1))
	if whole || len(found) != 1 || !strings.Contains(found[0].text, errDepth.Error()) {
		t.Errorf("deeper: whole %v, %v, want %v", whole, found, errDepth)
	}
}
