package access_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/rawjson"
)

func TestRedact(t *testing.T) {
	s := compile(t, false,
		access.Rule{Action: access.ActionRedact, Fields: []string{"password", "api key"}},
		access.Rule{Action: access.ActionRedact, Patterns: []string{"sk-[a-z0-9]{8,}"}, In: []string{access.InResults}},
	)
	list := s.Decide(nil, access.Target{}).Redact
	for _, c := range []struct{ rule, in, want string }{
		{"nothing to replace", `{"a" : [1, "sk-x"] }`, `{"a" : [1, "sk-x"] }`},
		{"a field, whatever its value", `{"password" : {"x":["}"]}, "b":1}`, `{"password" : "[redacted]", "b":1}`},
		{"a field deep down", `[[{"a":{"password":null}}]]`, `[[{"a":{"password":"[redacted]"}}]]`},
		{"a number at the end", `{"password":-1.5e3}`, `{"password":"[redacted]"}`},
		{"a field whose name is escaped", `{"p\u0061ssword":"x"}`, `{"p\u0061ssword":"[redacted]"}`},
		{"every field of two with the same name", `{"password":1,"password":2}`, `{"password":"[redacted]","password":"[redacted]"}`},
		{"a value that looks like the name", `["password","x"]`, `["password","x"]`},
		{"a pattern", `{"t":"key sk-abcdefgh1 and\nsk-12345678"}`, `{"t":"key [redacted] and\n[redacted]"}`},
		{"a pattern behind escapes", `{"t":"sk-\u0061bcdefgh"}`, `{"t":"[redacted]"}`},
		{"a document in a text", `{"text":"{\"password\":\"x\",\"n\":1.0}"}`, `{"text":"{\"password\":\"[redacted]\",\"n\":1.0}"}`},
		{"a pattern in a name", `{"sk-abcdefgh1" : {"x sk-\u0061bcdefgh":1}}`, `{"[redacted]" : {"x [redacted]":1}}`},
		{"a name that is taken and matches", `{"password":1,"a":{"sk-abcdefgh1":2}}`, `{"password":"[redacted]","a":{"[redacted]":2}}`},
		{"a text that only begins like one", `{"text":"{\"password\":"}`, `{"text":"{\"password\":"}`},
	} {
		if got := string(access.Redact([]byte(c.in), list, access.InResults)); got != c.want {
			t.Errorf("%s: Redact(%s) = %s, want %s", c.rule, c.in, got, c.want)
		}
	}
	if got := string(access.Redact([]byte(`{"password":1,"t":"sk-abcdefgh1"}`), list, access.InArguments)); got != `{"password":"[redacted]","t":"sk-abcdefgh1"}` {
		t.Errorf("arguments: %s", got)
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"password":"x","a":["sk-abcdefgh9",{"password":[1,{}]}]}`, `"sk-abcdefgh9"`, `[]`, `{"":"{\"password\":1}"}`} {
		f.Add(seed)
	}
	pattern := "sk-[a-z0-9]{8,}"
	s := compile(f, false, access.Rule{Action: access.ActionRedact, Fields: []string{"password"}, Patterns: []string{pattern}})
	list := s.Decide(nil, access.Target{}).Redact
	re := regexp.MustCompile(pattern)
	f.Fuzz(func(t *testing.T, doc string) {
		if rawjson.Check([]byte(doc), 512) != nil {
			return // not JSON: nothing to redact
		}
		out := access.Redact([]byte(doc), list, access.InResults)
		var v any
		read := json.NewDecoder(bytes.NewReader(out))
		read.UseNumber()
		if err := read.Decode(&v); err != nil {
			t.Fatalf("Redact(%q) = %q, which is no JSON", doc, out)
		}
		var look func(v any)
		look = func(v any) {
			switch v := v.(type) {
			case string:
				if re.MatchString(v) {
					t.Fatalf("Redact(%q) = %q, which still has the pattern", doc, out)
				}
			case []any:
				for _, e := range v {
					look(e)
				}
			case map[string]any:
				for name, e := range v {
					if name == "password" && e != access.Redacted {
						t.Fatalf("Redact(%q) = %q, which still has a password", doc, out)
					}
					look(e)
				}
			}
		}
		look(v)
	})
}

func TestNormalURI(t *testing.T) {
	for in, want := range map[string]string{
		"file:///a/b":           "file:///a/b",
		"FILE://Host/A":         "file://host/A",
		"file:///%41%7e":        "file:///A~",
		"file:///a%20b%c3%a9":   "file:///a%20b%C3%A9",
		"file:///./a/./b/.":     "file:///a/b/",
		"file:////a//b":         "file:///a/b",
		"web://https://x/a":     "web://https://x/a",
		"x:a:https://b//c":      "x:a:https://b/c",
		"a/b":                   "a/b",
		"file:///a?x=../b#./c":  "file:///a?x=../b#./c",
		"file:///..a/b../...":   "file:///..a/b../...",
		"ui://server/page.html": "ui://server/page.html",

		"file:/a/b":                   "file:///a/b",
		"file://localhost/a":          "file:///a",
		"file://LOCALHOST/a":          "file:///a",
		"file://localhost./a":         "file:///a",
		"file://localhost:80/a":       "file:///a",
		"file://u@[::1]:/a":           "file:///a",
		"/a/b":                        "file:///a/b",
		"https://user:pw@Host.:443/a": "https://host/a",
		"https://a@b/c":               "https://b/c",
		"http://host:8080/a":          "http://host:8080/a",
		"file:///a b\u00e9{c}":        "file:///a%20b%C3%A9%7Bc%7D",
		"file:///C%3a/a%28b%29%2b%26": "file:///C:/a(b)+&",
		"mailto:a%40b":                "mailto:a@b",
		"https://a%40b/c":             "https://a%40b/c",
	} {
		if got, ok := access.NormalURI(in); !ok || got != want {
			t.Errorf("NormalURI(%q) = %q, %v, want %q", in, got, ok, want)
		}
		if again, ok := access.NormalURI(want); !ok || again != want {
			t.Errorf("NormalURI(%q) = %q, %v: not itself", want, again, ok)
		}
	}
	for _, in := range []string{
		"file:///a/../b", "..", "file:///a/..", "file:///%2e%2e/b", "file:///a/.%2E/b", "file:///a%2fb", "file:///a%5Cb", `file:///a\b`,
		"file:///a%00", "file:///a\x01", "file:///a%", "file:///a%g0", "file:///a%252e", "file:///a%25", "x:../a",
		" file:///a", "file:///a ", "\ufefffile:///a", "file:///a\u00a0", "file:///a/..%3b/b",
	} {
		if got, ok := access.NormalURI(in); ok {
			t.Errorf("NormalURI(%q) = %q, want a refusal", in, got)
		}
	}
}

func TestRuleValidate(t *testing.T) {
	for _, c := range []struct {
		rule string
		in   access.Rule
		want string
	}{
		{"no action", access.Rule{}, "action: missing"},
		{"another action", access.Rule{Action: "permit"}, "action: \"permit\" is none of"},
		{"a door that is none", access.Rule{Action: "deny", Door: globs("front")}, "door: \"front\" is none of"},
		{"an empty pattern", access.Rule{Action: "deny", Tool: globs("")}, "tool: the empty pattern"},
		{"a redaction of nothing", access.Rule{Action: "redact"}, "action: redact needs"},
		{"fields of a denial", access.Rule{Action: "deny", Fields: []string{"a"}}, "action: fields, patterns and in"},
		{"a pattern that is none", access.Rule{Action: "redact", Patterns: []string{"("}}, "patterns[0]: not RE2"},
		{"a pattern of nothing", access.Rule{Action: "redact", Patterns: []string{"a*"}}, "patterns[0]: matches the empty text"},
		{"another place", access.Rule{Action: "redact", Fields: []string{"a"}, In: []string{"headers"}}, "in: \"headers\""},
		{"a beginning that climbs", access.Rule{Action: "deny", Resource: globs("file:///a/../")}, "resource: "},
	} {
		if err := c.in.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Validate = %v, want %q", c.rule, err, c.want)
		}
	}
}
