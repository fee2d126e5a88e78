package test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/app"
	"secateur/internal/config"
)

// bearer sends a token with every request.
type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// seenBy is the program as the holder of a token sees it.
func (p *program) seenBy(token string) *program {
	return &program{url: p.url, http: &http.Client{Transport: bearer{p.http.Transport, token}}}
}

// Three clients of two eras and the routing table for server messages: alice and bob are legacy,
// carol is modern.
func TestNotificationRoutes(t *testing.T) {
	base := "listen = \"127.0.0.1:0\"\n[admin]\nwatch = false\n[store]\nurl = \"memory:\"\n" + peerConfig(t, "s", "plain", "startup_timeout = 60\n")
	for _, name := range []string{"alice", "bob", "carol", "root"} {
		sum := sha256.Sum256([]byte(name))
		base += fmt.Sprintf("[[auth.tokens]]\nname = %q\nhash = \"sha256:%s\"\nroles = [%q]\n", name, hex.EncodeToString(sum[:]), map[bool]string{true: "admin", false: "dev"}[name == "root"])
	}
	file := configFile(t, base)
	load := func() (*config.Config, []config.Problem) {
		return config.LoadFile(file, config.Options{Lookup: os.LookupEnv})
	}
	cfg, mistakes := load()
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := startIn(t, cfg, t.TempDir(), func(o *app.Options) { o.Load = load })
	table := func(rows string) {
		t.Helper()
		p.seenBy("root").reload(t, file, base+rows)
	}
	alice, bob, carol := httpClient(t, p.seenBy("alice"), "/mcp", "2025-11-25"), httpClient(t, p.seenBy("bob"), "/mcp", "2025-06-18"), httpClient(t, p.seenBy("carol"), "/mcp", modern)
	for name, c := range map[string]*client{"alice": alice, "bob": bob} {
		c.capabilities = `{"roots":{}}`
		c.answer = func(string, json.RawMessage) string { return `{"roots":[{"uri":"file:///` + name + `"}]}` }
	}
	for name, c := range map[string]*client{"alice": alice, "bob": bob} {
		c.open()
		c.listen(p.seenBy(name), "/mcp")
		c.result("tools/list", "")
		c.tool("s::pid", "{}")
	}
	carol.open()
	bob.result("logging/setLevel", `{"level":"debug"}`)

	say := func(c *client, nonce string) {
		t.Helper()
		c.result("tools/call", fmt.Sprintf(`{"name":"s::say","arguments":{"nonce":%q}%s}`, nonce,
			map[bool]string{true: `,"_meta":{"io.modelcontextprotocol/logLevel":"info"}`}[c == carol]))
	}
	message := func(to string) string {
		return "[[notifications.routes]]\nserver = \"s\"\nmethod = \"notifications/message\"\n" + to + "\n"
	}
	want := map[*client][]string{}
	for _, step := range []struct {
		rows   string
		caller *client
		nonce  string
		heard  []*client
	}{
		{"", alice, "none-alice", []*client{alice}},
		{"", carol, "none-carol", []*client{carol}},
		{message(`to = "cause"`), bob, "cause-bob", []*client{bob}},
		{message(`to = "drop"`), alice, "drop-alice", nil},
		{message(`to = "drop"`), carol, "drop-carol", nil},
		{message(`to = "asked"`), alice, "asked-alice", []*client{bob}},
		{message(`to = "asked"`), carol, "asked-carol", []*client{bob, carol}},
		{message("to = \"principals\"\nprincipals = [\"b*\"]"), alice, "bob-alice", []*client{bob}},
		{message("to = \"principals\"\nprincipals = [\"carol\"]"), carol, "carol-carol", []*client{carol}},
		{message("to = \"principals\"\nprincipals = [\"alice\"]"), carol, "alice-carol", []*client{alice}},
		{message(`to = "all"`), carol, "all-carol", []*client{alice, bob, carol}},
		{message(`to = "all"`), alice, "end", []*client{alice, bob}},
	} {
		table(step.rows)
		say(step.caller, step.nonce)
		for _, c := range step.heard {
			want[c] = append(want[c], step.nonce)
		}
	}
	heard := func(c *client) (all []string) {
		for _, params := range c.notices("notifications/message") {
			var m struct {
				Data string `json:"data"`
			}
			if err := json.Unmarshal([]byte(params), &m); err != nil {
				t.Fatal(params, err)
			}
			all = append(all, m.Data)
		}
		slices.Sort(all)
		return all
	}
	// They have two streams, a call's and their own, each ordered but not with each other.
	for _, c := range []*client{alice, bob} {
		eventually(t, time.Minute, "all is heard", func() bool {
			got := heard(c)
			return !slices.ContainsFunc(want[c], func(nonce string) bool { return !slices.Contains(got, nonce) })
		})
	}
	for name, c := range map[string]*client{"alice": alice, "bob": bob, "carol": carol} {
		slices.Sort(want[c])
		if got := heard(c); !slices.Equal(got, want[c]) {
			t.Errorf("%s heard %q, want %q", name, got, want[c])
		}
	}

	// A request goes to one client: the first that can answer.
	roots := func(to string) string { return "[[notifications.routes]]\nmethod = \"roots/list\"\n" + to + "\n" }
	for _, step := range []struct {
		rows   string
		caller *client
		want   string
	}{
		{"", alice, "file:///alice"},
		{roots(`to = "cause"`), bob, "file:///bob"},
		{roots("to = \"principals\"\nprincipals = [\"bob\"]"), alice, "file:///bob"},
		{roots("to = \"principals\"\nprincipals = [\"bob\"]"), carol, "file:///bob"},
		{roots(`to = "all"`), bob, "file:///"},
		{roots("to = \"principals\"\nprincipals = [\"nobody\"]"), alice, "-32601"},
		{roots(`to = "drop"`), alice, "-32601"},
	} {
		table(step.rows)
		if got := step.caller.tool("s::ask", "{}"); !strings.Contains(got, step.want) || strings.Count(got, "file:///") > 1 {
			t.Errorf("%q: the server got %s, want %s", step.rows, got, step.want)
		}
	}
}
