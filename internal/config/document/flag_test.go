package document

import "testing"

func TestSetFlag(t *testing.T) {
	const toml = "# about a\n[[servers]]\n# its name\nid = \"a\" # one\nargs = [\n  \"x\", # why\n]\n[servers.env]\nA = \"1\"\n\n[[servers]]\nid = \"b\"\n"
	set := "# about a\n[[servers]]\n# its name\nid = \"a\" # one\nargs = [\n  \"x\", # why\n]\ndisabled = true\n[servers.env]\nA = \"1\"\n\n[[servers]]\nid = \"b\"\n"
	for _, c := range []struct {
		rule         string
		format       Format
		at           Place
		on           bool
		before, want string
	}{
		{"a TOML key is added, and nothing else changes", TOML, Place{Group: "servers"}, true, toml, set},
		{"and is taken out again", TOML, Place{Group: "servers"}, false, set, toml},
		{"what is off already stays as it is", TOML, Place{Group: "servers"}, false, toml, toml},
		{"a file without a last line end", TOML, Place{Group: "servers", Index: 1}, true, "[[servers]]\nid = \"a\"\n[[servers]]\r\nid = \"b\"", "[[servers]]\nid = \"a\"\n[[servers]]\r\nid = \"b\"\ndisabled = true"},
		{"a line that says more is kept", TOML, Place{Group: "servers"}, false, "[[servers]]\ndisabled = true # until Monday\nid = \"a\"\n", "[[servers]]\ndisabled = false # until Monday\nid = \"a\"\n"},
		{"another entry's key is not this one's", TOML, Place{Group: "servers"}, true, "[[servers]]\nid = \"a\"\n[[servers]]\nid = \"b\"\ndisabled = false\n", "[[servers]]\nid = \"a\"\ndisabled = true\n[[servers]]\nid = \"b\"\ndisabled = false\n"},
		{"a JSON member is added", JSON, Place{Group: "servers"}, true, "{\n  \"servers\": [\n    {\n      \"id\": \"a\" // one\n    }\n  ]\n}\n", "{\n  \"servers\": [\n    {\n      \"id\": \"a\", // one\n      \"disabled\": true\n    }\n  ]\n}\n"},
		{"a JSON member is changed", JSON, Place{Group: "mcpServers", Name: "a"}, false, `{"mcpServers":{"a":{"disabled":true,"command":"x"}}}`, `{"mcpServers":{"a":{"disabled":false,"command":"x"}}}`},
	} {
		got, err := SetFlag(c.format, []byte(c.before), c.at, "disabled", c.on)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%q, %v, want\n%q", c.rule, got, err, c.want)
		}
	}
}
