package document

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
)

var entry = []Field{{"command", "secateur"}, {"args", []string{"stdio"}}}

var inServers = Place{Group: "mcpServers", Name: "secateur"}

const pretty = "\n    \"secateur\": {\n      \"command\": \"secateur\",\n      \"args\": [\"stdio\"]\n    }"

func TestInsertJSON(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"nothing at all", "", "{\n  \"mcpServers\": {" + pretty + "\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"mcpServers\": {" + pretty + "\n  }\n}"},
		{"an empty group", "{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcpServers\": {" + pretty + "\n  }\n}\n"},
		{"a group that is null", "{\n  \"mcpServers\": null\n}", "{\n  \"mcpServers\": {" + pretty + "\n  }\n}"},
		{"behind the last", "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"a\": {}," + pretty + "\n  }\n}"},
		{"a trailing comma stays the custom", "{\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}", "{\n  \"mcpServers\": {\n    \"a\": {}," + pretty + ",\n  },\n}"},
		{"a comment stays on its line", "{\n  \"mcpServers\": {\n    \"a\": {} // mine, {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"a\": {}, // mine, {}" + pretty + "\n  }\n}"},
		{"a comment alone", "{\n  \"mcpServers\": {\n    // none yet\n  }\n}", "{\n  \"mcpServers\": {\n    // none yet" + pretty + "\n  }\n}"},
		{
			"CRLF and tabs", "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
			"{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"secateur\": {\r\n\t\t\t\"command\": \"secateur\",\r\n\t\t\t\"args\": [\"stdio\"]\r\n\t\t}\r\n\t}\r\n}\r\n",
		},
		{"one line", `{"mcpServers":{"a":{}}}`, `{"mcpServers":{"a":{},"secateur":{"command":"secateur","args":["stdio"]}}}`},
		{"one line with spaces", `{"mcpServers": {"a": {}}, "x": 1}`, `{"mcpServers": {"a": {}, "secateur":{"command":"secateur","args":["stdio"]}}, "x": 1}`},
		{"one line without the group", `{"x":1}`, `{"x":1,"mcpServers":{"secateur":{"command":"secateur","args":["stdio"]}}}`},
		{"a byte order mark", "\xef\xbb\xbf{}", "\xef\xbb\xbf{\n  \"mcpServers\": {" + pretty + "\n  }\n}"},
	} {
		got, err := Insert(JSON, []byte(c.in), inServers, entry)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: Insert(%q) = %q, %v, want %q", c.rule, c.in, got, err, c.want)
		}
	}
}

func TestRemoveJSON(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"the last", "{\"mcpServers\": {\n  \"a\": {},\n  \"secateur\": {}\n}}", "{\"mcpServers\": {\n  \"a\": {}\n}}"},
		{"the last, with a comment before it", "{\"mcpServers\": {\n  \"a\": {}, // mine\n  \"secateur\": {}\n}}", "{\"mcpServers\": {\n  \"a\": {} // mine\n}}"},
		{"the last, with a trailing comma", "{\"mcpServers\": {\n  \"a\": {},\n  \"secateur\": {},\n}}", "{\"mcpServers\": {\n  \"a\": {},\n}}"},
		{"the first", "{\"mcpServers\": {\n  \"secateur\": {},\n  \"a\": {}\n}}", "{\"mcpServers\": {\n  \"a\": {}\n}}"},
		{"one between", "{\"mcpServers\": {\"a\": 1, \"secateur\": {\"x\": [1, 2]}, \"b\": 2}}", "{\"mcpServers\": {\"a\": 1, \"b\": 2}}"},
		{"the only one", "{\"mcpServers\": {\n  \"secateur\": {}\n}}", "{\"mcpServers\": {}}"},
		{"the only one, and a comment", "{\"mcpServers\": {\n  // mine\n  \"secateur\": {}\n}}", "{\"mcpServers\": {\n  // mine\n}}"},
		{"a name with an escape", `{"mcpServers": {"a\"b": 1, "sec\u0061teur": 2}}`, `{"mcpServers": {"a\"b": 1}}`},
	} {
		got, err := Remove(JSON, []byte(c.in), inServers)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: Remove(%q) = %q, %v, want %q", c.rule, c.in, got, err, c.want)
		}
	}
	list := []byte("{\"servers\": [\n  {\"id\": \"a\"},\n  {\"id\": \"b\"}\n]}")
	if got, err := Remove(JSON, list, Place{Group: "servers", Index: 0}); err != nil || string(got) != "{\"servers\": [\n  {\"id\": \"b\"}\n]}" {
		t.Errorf("Remove of an item = %q, %v", got, err)
	}
}

func TestTOML(t *testing.T) {
	own := Place{Group: "servers", List: true}
	codex := Place{Group: "mcp_servers", Name: "secateur"}
	fields := []Field{{"id", "b"}, {"command", []any{"x", "a \"b\""}}, {"env", []Field{{"A.B", "1"}}}, {"response_timeout", Number("2.5")}}
	text := "[[servers]]\nid = \"b\"\ncommand = [\"x\", \"a \\\"b\\\"\"]\nenv = { \"A.B\" = \"1\" }\nresponse_timeout = 2.5\n"
	for _, c := range []struct {
		rule     string
		at       Place
		in, want string
	}{
		{"nothing at all", own, "", text},
		{"at the end", own, "listen = \"x\"", "listen = \"x\"\n\n" + text},
		{"behind the last server, before the next table's comment", own, "[[servers]]\nid = \"a\"\n\n# about the store\n[store]\nurl = \"\"\n", "[[servers]]\nid = \"a\"\n\n" + text + "\n# about the store\n[store]\nurl = \"\"\n"},
		{"behind the last server's own tables", own, "[[servers]]\nid = \"a\"\n[servers.env]\nX = \"\"\"\n# not a comment\"\"\"\n\n[store]\n", "[[servers]]\nid = \"a\"\n[servers.env]\nX = \"\"\"\n# not a comment\"\"\"\n\n" + text + "\n[store]\n"},
		{"a table by name", codex, "[mcp_servers.a]\r\nurl = \"x\"\r\n", "[mcp_servers.a]\r\nurl = \"x\"\r\n\r\n[mcp_servers.secateur]\r\ncommand = \"secateur\"\r\nargs = [\"stdio\"]\r\n"},
	} {
		f := fields
		if !c.at.List {
			f = entry
		}
		got, err := Insert(TOML, []byte(c.in), c.at, f)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: Insert(%q) = %q, %v, want %q", c.rule, c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"servers = []\n", "servers = [{id = \"a\"}]\n"} {
		if _, err := Insert(TOML, []byte(in), own, fields); !errors.Is(err, ErrInline) {
			t.Errorf("Insert(%q): err = %v, want ErrInline", in, err)
		}
	}
	two := "# top\n[[servers]]\nid = \"a\"\n[servers.env]\nX = \"1\"\n\n# second\n[[servers]]\nid = \"b\"\n\n[store]\nurl = \"\"\n"
	for i, want := range []string{"# top\n\n# second\n[[servers]]\nid = \"b\"\n\n[store]\nurl = \"\"\n", "# top\n[[servers]]\nid = \"a\"\n[servers.env]\nX = \"1\"\n\n# second\n\n[store]\nurl = \"\"\n"} {
		if got, err := Remove(TOML, []byte(two), Place{Group: "servers", Index: i}); err != nil || string(got) != want {
			t.Errorf("Remove of server %d = %q, %v, want %q", i, got, err, want)
		}
	}
	if _, err := Remove(TOML, []byte("[mcp_servers]\nsecateur = {}\n"), codex); !errors.Is(err, ErrInline) {
		t.Errorf("Remove of an inline entry: err = %v, want ErrInline", err)
	}
}

func TestYAML(t *testing.T) {
	at := Place{Group: "mcpServers", Name: "secateur", List: true}
	fields := []Field{{"name", "secateur"}, {"command", "/usr/bin/secateur"}, {"args", []string{"stdio", "--config", "yes", "a b"}}}
	text := func(indent string) string {
		return strings.ReplaceAll("- name: secateur\n  command: /usr/bin/secateur\n  args:\n    - stdio\n    - \"--config\"\n    - \"yes\"\n    - \"a b\"\n", "\n", "\n"+indent)
	}
	lines := func(indent string) string { return indent + strings.TrimSuffix(text(indent), indent) }
	for _, c := range []struct{ rule, in, want string }{
		{"nothing at all", "", "mcpServers:\n" + lines("  ")},
		{"at the end", "name: x\n", "name: x\nmcpServers:\n" + lines("  ")},
		{"an empty list", "mcpServers: [] # none\nname: x\n", "mcpServers: # none\n" + lines("  ") + "name: x\n"},
		{"no value", "mcpServers:\nname: x\n", "mcpServers:\n" + lines("  ") + "name: x\n"},
		{"a list without indentation, a comment behind it", "mcpServers:\n- name: a\n  command: b\n\n# models\nmodels: []\n", "mcpServers:\n- name: a\n  command: b\n" + lines("") + "\n# models\nmodels: []\n"},
	} {
		got, err := Insert(YAML, []byte(c.in), at, fields)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: Insert(%q) = %q, %v, want %q", c.rule, c.in, got, err, c.want)
		}
	}
	if _, err := Insert(YAML, []byte("mcpServers: [{name: a}]\n"), at, fields); !errors.Is(err, ErrInline) {
		t.Errorf("Insert into a list on one line: err = %v, want ErrInline", err)
	}
	in := "mcpServers:\n  - name: a # first\n    command: b\n  - name: secateur\n    command: c\n# end\n"
	if got, err := Remove(YAML, []byte(in), at); err != nil || string(got) != "mcpServers:\n  - name: a # first\n    command: b\n# end\n" {
		t.Errorf("Remove = %q, %v", got, err)
	}
	if got, err := Remove(YAML, []byte("mcpServers:\n  - name: secateur\n    command: c\nx: 1\n"), at); err != nil || string(got) != "mcpServers: []\nx: 1\n" {
		t.Errorf("Remove of the only one = %q, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		f    Format
		data string
	}{{JSON, "[]"}, {JSON, "{"}, {JSON, `{"a":1,"a":2}`}, {TOML, "a = "}, {TOML, "a = 1\na = 2"}, {YAML, "a: b: c"}, {YAML, "- a"}, {YAML, "a: 1\n---\nb: 2\n"}, {YAML, "!"}, {YAML, "a: |\n b"}} {
		if out, err := Insert(c.f, []byte(c.data), inServers, entry); err == nil {
			t.Errorf("Insert(%s, %q) = %q, want an error", c.f, c.data, out)
		}
	}
	taken := map[Format]string{JSON: `{"mcpServers":{"secateur":{}}}`, TOML: "[mcpServers.secateur]\n", YAML: "mcpServers:\n  - name: secateur\n"}
	for f, data := range taken {
		if _, err := Insert(f, []byte(data), inServers, entry); !errors.Is(err, ErrTaken) {
			t.Errorf("%s: Insert of a name that is there: err = %v, want ErrTaken", f, err)
		}
		if _, err := Remove(f, []byte(data), Place{Group: "mcpServers", Name: "other"}); !errors.Is(err, ErrNoEntry) {
			t.Errorf("%s: Remove of a name that is not there: err = %v, want ErrNoEntry", f, err)
		}
	}
}

func TestDiff(t *testing.T) {
	before, after := "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\nx\n6\n7\n8\n9\n"
	want := "--- f\n+++ f\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+x\n 6\n 7\n 8\n"
	if got := Diff("f", []byte(before), []byte(after)); got != want {
		t.Errorf("Diff = %q, want %q", got, want)
	}
	want = "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"
	if got := Diff("f", []byte("a"), nil); got != want {
		t.Errorf("Diff to nothing = %q, want %q", got, want)
	}
	if got := Diff("f", []byte("a"), []byte("a")); got != "" {
		t.Errorf("Diff of equal texts = %q", got)
	}
}

// decoded reads a document with a parser that knows nothing of offsets.
func decoded(f Format, data []byte) (map[string]any, error) {
	body, _ := cutMark(data)
	return meaning(f, body)
}

// FuzzEdit inserts an entry into any document and removes it again. Every byte of the document must
// stay in order, and other parsers must agree on the change. The final meaning must be the original
// one.
func FuzzEdit(f *testing.F) {
	for _, s := range []struct {
		format int
		data   string
	}{
		{0, "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}, // x\r\n\t},\r\n}"},
		{0, `{"mcpServers":{"a":{"env":{"b":"\"}"}}},"x":[1,2]}`},
		{0, "{ /* a */ \"mcpServers\" : { /* b */ } /* c */ }"},
		{0, "{\"mcpServers\": [\n 1, // x\n 2 /* y\n */ ]}"},
		{1, "# a\n[mcpServers.a]\nx = \"\"\"\n# b\n\"\"\" # c\n\n# d\n[b]\n"},
		{1, "[[mcpServers]]\nid = 'a'\n[mcpServers.env]\n[[mcpServers]]\n"},
		{2, "# a\nmcpServers:\n  - name: a\n    x: |\n      # b\n\n  # c\n  - name: b\nd: 1\n"},
		{2, "mcpServers: [] # x"},
	} {
		f.Add(s.format, []byte(s.data))
	}
	f.Fuzz(func(t *testing.T, format int, data []byte) {
		form := Format(uint(format) % 3)
		fields := entry
		if form == YAML {
			fields = append([]Field{{"name", "secateur"}}, entry...)
		}
		before, err := decoded(form, data)
		if err != nil {
			return
		}
		in, err := Insert(form, data, inServers, fields)
		if err != nil {
			return
		}
		if group, there := before["mcpServers"]; form != YAML && (group != nil || !there) && !isSubsequence(data, in) {
			t.Fatalf("Insert(%q) = %q: bytes were lost", data, in)
		}
		added, err := decoded(form, in)
		if err != nil {
			t.Fatalf("Insert(%q) = %q: %v", data, in, err)
		}
		if !reflect.DeepEqual(others(before), others(added)) {
			t.Fatalf("Insert(%q) = %q: something else changed", data, in)
		}
		if _, isList := added["mcpServers"].([]any); isList && form != YAML {
			return
		}
		if _, isList := added["mcpServers"].([]map[string]any); isList {
			return
		}
		out, err := Remove(form, in, inServers)
		if err != nil {
			t.Fatalf("Remove(%q): %v", in, err)
		}
		if _, there := Find(form, out, inServers); there {
			t.Fatalf("Remove(%q) = %q: it is still there", in, out)
		}
		removed, err := decoded(form, out)
		if err != nil || !reflect.DeepEqual(others(before), others(removed)) {
			t.Fatalf("Remove(%q) = %q, %v: something else changed", in, out, err)
		}
		if !isSubsequence(out, in) && form != YAML {
			t.Fatalf("Remove(%q) = %q: bytes were added", in, out)
		}
	})
}

// others returns the contents of a document without our entry. An empty group counts as absent.
func others(doc map[string]any) map[string]any {
	out := maps.Clone(doc)
	delete(out, "mcpServers")
	switch group := doc["mcpServers"].(type) {
	case map[string]any:
		for name, v := range group {
			if name != "secateur" {
				out["by name "+name] = v
			}
		}
	case []any:
		var rest []any
		for _, item := range group {
			if m, ok := item.(map[string]any); !ok || m["command"] != "secateur" {
				rest = append(rest, item)
			}
		}
		if rest != nil {
			out["list"] = rest
		}
	}
	return out
}

// isSubsequence reports whether all bytes of a occur in b in order. It ignores the space that an
// empty group may lose.
func isSubsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}
