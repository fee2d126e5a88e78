package upstream

import (
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"secateur/internal/secret"
)

func TestSettingsAreRead(t *testing.T) {
	const sample = `
id = "everything"
command = ["npx", "-y", "@modelcontextprotocol/server-everything"]
env = { KEY = "value" }
cwd = ""
disabled = false
startup_timeout = 20
shutdown_grace = 3
response_timeout = 0
protocol = "auto"
isolation = "shared"
framing = "line"
mask = true
mask_exempt = ["read_*"]
`
	var s Settings
	if err := toml.NewDecoder(strings.NewReader(sample)).DisallowUnknownFields().Decode(&s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if s.ID != "everything" || len(s.Command) != 3 || s.Env["KEY"].Reveal() != "value" || !*s.Mask {
		t.Errorf("read %+v", s)
	}
}

func TestSettingsMistakes(t *testing.T) {
	text := func(m map[string]string) map[string]secret.Text {
		out := map[string]secret.Text{}
		for k, v := range m {
			out[k] = secret.New(v)
		}
		return out
	}
	for _, c := range []struct {
		rule string
		s    Settings
		want []string // every line of the error; none: valid
	}{
		{"a command is enough", Settings{ID: "a-B_9", Command: []string{"x"}}, nil},
		{"a url is enough", Settings{ID: "a", URL: "https://h/mcp"}, nil},
		{"an IPv6 host is one", Settings{ID: "a", URL: "http://[::1]:80"}, nil},
		{"a built-in is enough", Settings{ID: "a", Builtin: "demo"}, nil},
		{"an id is needed", Settings{Command: []string{"x"}}, []string{"id: missing"}},
		{"an id has a set of characters", Settings{ID: "a::b", Command: []string{"x"}}, []string{`id: "a::b" has characters other than letters, digits, - and _`}},
		{"a way to reach it is needed", Settings{ID: "a"}, []string{"command: missing; a server has a command or a url"}},
		{"two ways are too many", Settings{ID: "a", Command: []string{"x"}, URL: "http://h"}, []string{"url: given beside command; a server has one of them"}},
		{"words have a set of values", Settings{ID: "a", Command: []string{"x"}, Protocol: "new", Isolation: "x", Framing: "y"}, []string{
			`protocol: "new" is none of auto, legacy, modern`, `isolation: "x" is none of shared, per-session`, `framing: "y" is none of line, content-length`,
		}},
		{"times are times", Settings{ID: "a", Command: []string{"x"}, StartupTimeout: -time.Second, ResponseTimeout: 1e9 * time.Second}, []string{
			"startup_timeout: -1 is negative", "response_timeout: 1e+09 is more than a day",
		}},
		{"a pattern is one", Settings{ID: "a", Command: []string{"x"}, MaskExempt: []string{"a*", "[a"}}, []string{`mask_exempt[1]: "[a" is not a pattern: syntax error in pattern`}},
		{"what belongs to a url does not belong to a command", Settings{ID: "a", Command: []string{"x"}, Transport: "rpc", Headers: text(map[string]string{"X": "y"})}, []string{
			"transport: is for a server with a url", "headers: are for a server with a url",
		}},
		{"what belongs to a command does not belong to a url", Settings{ID: "a", URL: "http://h", Cwd: "/", Env: text(map[string]string{"X": "y"}), Framing: "content-length"}, []string{
			"env: is for a server with a command", "cwd: is for a server with a command", "framing: is for a server with a command",
		}},
		{"a url is one", Settings{ID: "a", URL: "h:80"}, []string{"url: must start with http:// or https://"}},
		{"a url has a host", Settings{ID: "a", URL: "http:///x"}, []string{"url: has no host"}},
		{"a url that is broken is not shown", Settings{ID: "a", URL: "http://h/%zz?token=canary"}, []string{"url: is not a URL"}},
		{"a transport has a set of values", Settings{ID: "a", URL: "http://h", Transport: "ws"}, []string{`transport: "ws" is none of http, sse, rpc`}},
		{"headers are headers", Settings{ID: "a", URL: "http://h", Headers: text(map[string]string{"a b": "x", "Mcp-Session-Id": "x", "X-Ok": "canary\r\nX: y"})}, []string{
			"headers.Mcp-Session-Id: is set by the protocol", "headers.X-Ok: has a character that a header may not have", `headers: "a b" is not a header's name`,
		}},
		{"programs and variables have no NUL", Settings{ID: "a", Command: []string{"", "a\x00"}, Cwd: "\x00", Env: text(map[string]string{"A=B": "x", "": "x", "C": "canary\x00"})}, []string{
			"command[0]: the program's name is empty", "command[1]: has a NUL character", `env: "" is not a variable's name`, `env: "A=B" is not a variable's name`,
			"env.C: has a NUL character", "cwd: has a NUL character",
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := c.s.Validate()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("Validate:\n%s\nwant:\n%s", got, want)
			}
			if strings.Contains(got, "canary") {
				t.Errorf("a secret is shown: %s", got)
			}
		})
	}
}

func TestMasked(t *testing.T) {
	no := false
	for _, c := range []struct {
		s    Settings
		tool string
		want bool
	}{
		{Settings{}, "read_file", true},
		{Settings{Mask: &no}, "read_file", false},
		{Settings{MaskExempt: []string{"read_*"}}, "read_file", false},
		{Settings{MaskExempt: []string{"read_*"}}, "write_file", true},
		{Settings{MaskExempt: []string{"[", "write_file"}}, "write_file", false},
	} {
		if got := c.s.Masked(c.tool); got != c.want {
			t.Errorf("%+v.Masked(%q) = %v", c.s, c.tool, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		rule string
		opt  Options
		want string
	}{
		{"settings that are wrong", Options{Settings: Settings{ID: "a"}}, `server "a": command: missing`},
		{"capabilities that are no object", Options{Settings: Settings{ID: "a", Command: []string{"x"}}, Capabilities: []byte(`[]`)}, "no JSON object"},
		{"capabilities that are not whole", Options{Settings: Settings{ID: "a", Command: []string{"x"}}, Capabilities: []byte(`{},"id":{}`)}, "no JSON object"},
		{"capabilities with a name twice", Options{Settings: Settings{ID: "a", Command: []string{"x"}}, Capabilities: []byte(`{"a":1,"a":2}`)}, "no JSON object"},
		{"a built-in that is not there", Options{Settings: Settings{ID: "a", Builtin: "demo"}}, `no built-in server "demo"`},
	} {
		if _, err := New(c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want %q", c.rule, err, c.want)
		}
	}
}

func TestNewTakes(t *testing.T) {
	for _, c := range []struct {
		rule string
		opt  Options
	}{
		{"the old transport", Options{Settings: Settings{ID: "a", URL: "http://h", Transport: TransportSSE}}},
		{"a server for each session", Options{Settings: Settings{ID: "a", Command: []string{"x"}, Isolation: IsolationPerSession}}},
		{"capabilities", Options{Settings: Settings{ID: "a", Command: []string{"x"}}, Capabilities: []byte(` {"sampling":{}} `)}},
	} {
		if _, err := New(c.opt); err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

func TestDisabled(t *testing.T) {
	u := start(t, Options{Settings: Settings{ID: "a", Command: []string{"x"}, Disabled: true}})
	_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
	wantError(t, err, Unavailable, 0, "disabled")
	if st := u.Status(); st.State != Disabled || st.ID != "a" {
		t.Errorf("Status = %+v", st)
	}
}
