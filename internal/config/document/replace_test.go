package document

import (
	"errors"
	"testing"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		rule         string
		format       Format
		at           Place
		before, want string
	}{
		{
			"a TOML table of a list keeps its place and its neighbours' comments", TOML,
			Place{Group: "servers", Index: 0},
			"# top\n\n# about a\n[[servers]]\nid = \"a\" # one\n[servers.env]\nA = \"1\"\n\n# about b\n[[servers]]\nid = \"b\"\n\n[store]\nurl = \"memory:\"\n",
			"# top\n\n# about a\n[[servers]]\nid = \"n\"\nurl = \"http://x\"\n\n# about b\n[[servers]]\nid = \"b\"\n\n[store]\nurl = \"memory:\"\n",
		},
		{
			"a TOML table by name, with CRLF", TOML,
			Place{Group: "mcp_servers", Name: "a"},
			"[mcp_servers.a]\r\ncommand = \"x\"\r\n\r\n[mcp_servers.b]\r\ncommand = \"y\"\r\n",
			"[mcp_servers.a]\r\nid = \"n\"\r\nurl = \"http://x\"\r\n\r\n[mcp_servers.b]\r\ncommand = \"y\"\r\n",
		},
		{
			"a JSON object in a list", JSON,
			Place{Group: "servers", Index: 1},
			"{\n  // all\n  \"servers\": [\n    {\"id\": \"a\"}, // first\n    {\"id\": \"b\"} // second\n  ]\n}\n",
			"{\n  // all\n  \"servers\": [\n    {\"id\": \"a\"}, // first\n    {\n      \"id\": \"n\",\n      \"url\": \"http://x\"\n    } // second\n  ]\n}\n",
		},
		{
			"a JSON member by name, on one line", JSON,
			Place{Group: "mcpServers", Name: "b"},
			`{"mcpServers":{"a":{},"b":{"command":"x"}},"x-other":1}`,
			`{"mcpServers":{"a":{},"b":{"id":"n","url":"http://x"}},"x-other":1}`,
		},
	} {
		got, err := Replace(c.format, []byte(c.before), c.at, []Field{{"id", "n"}, {"url", "http://x"}})
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%q, %v, want\n%q", c.rule, got, err, c.want)
		}
	}
	if _, err := Replace(TOML, []byte("servers = [{id = \"a\"}]\n"), Place{Group: "servers"}, nil); !errors.Is(err, ErrInline) {
		t.Errorf("an inline list: %v", err)
	}
	if _, err := Replace(TOML, []byte("[[servers]]\nid = \"a\"\n"), Place{Group: "servers", Index: 3}, nil); !errors.Is(err, ErrNoEntry) {
		t.Errorf("an entry that is not there: %v", err)
	}
}
