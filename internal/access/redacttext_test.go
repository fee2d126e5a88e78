package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/rawjson"
)

// quoted encodes a text as a JSON string the given number of times.
func quoted(text string, times int) string {
	for range times {
		text = string(rawjson.AppendQuoted(nil, text))
	}
	return text
}

// shapes are texts that contain a member password with the value hunter2.
var shapes = map[string]struct{ in, want string }{
	"an object":              {`{"password":"hunter2","n":1.0}`, `{"password":"[redacted]","n":1.0}`},
	"another case":           {`{"Password":"hunter2","PASSWORD":["hunter2"]}`, `{"Password":"[redacted]","PASSWORD":"[redacted]"}`},
	"lines":                  {"{\"password\":\"hunter2\"}\n{\"n\":1}\n{\"password\":\"hunter2\"}\n", "{\"password\":\"[redacted]\"}\n{\"n\":1}\n{\"password\":\"[redacted]\"}\n"},
	"an object after a word": {`Result: {"password": "hunter2"}`, `Result: {"password": "[redacted]"}`},
	"an object among words":  {`a {b} [c {"x":{"password":"hunter2"}} d`, `a {b} [c {"x":{"password":"[redacted]"}} d`},
	"a code block":           {"Here:\n```json\n{\n  \"password\": \"hunter2\"\n}\n```\n", "Here:\n```json\n{\n  \"password\": \"[redacted]\"\n}\n```\n"},
	"a data event":           {"event: x\ndata: {\"password\":\"hunter2\"}\n\n", "event: x\ndata: {\"password\":\"[redacted]\"}\n\n"},
	"quoted":                 {quoted(`{"password":"hunter2"}`, 1), quoted(`{"password":"[redacted]"}`, 1)},
	"quoted twice":           {quoted(`{"password":"hunter2"}`, 2), quoted(`{"password":"[redacted]"}`, 2)},
	"quoted in a member":     {`{"a":` + quoted(`{"b":`+quoted(`{"password":"hunter2"}`, 1)+`}`, 1) + `}`, `{"a":` + quoted(`{"b":`+quoted(`{"password":"[redacted]"}`, 1)+`}`, 1) + `}`},
	"quoted very often":      {quoted(`{"password":"hunter2","n":1}`, 7), quoted(`{"password":"[redacted]","n":1}`, 7)},
	"quoted after a word":    {`got ` + quoted("{\n \"password\" : \"hunter\\\"2\"}", 1) + `.`, `got ` + quoted("{\n \"password\" : \"[redacted]\"}", 1) + `.`},
	"escaped, not quoted":    {`got {\"password\": \"hunter2\", \"n\": 1}`, `got {\"password\": \"[redacted]\", \"n\": 1}`},
	"escaped in its name":    {`Result: {"p\u0061ssword":"hunter2"}`, `Result: {"p\u0061ssword":"[redacted]"}`},
	"cut off":                {`{"n":1,"password":"hunter2`, `{"n":1,"password":"[redacted]`},
	"cut off within":         {`{"password":{"a":["hunter2",`, `{"password":"[redacted]"`},
	"a comma too many":       {`{"password": "hunter2", "n": [1,],}`, `{"password": "[redacted]", "n": [1,],}`},
	"a number":               {`{"password": 1.5, n}`, `{"password": "[redacted]", n}`},
	"an array":               {`{'a': 1, "password": ["x]", {"hunter2": '}'}], n}`, `{'a': 1, "password": "[redacted]", n}`},
	"Python":                 {`{'password': 'hunter2', 'n': None}`, `{'password': '[redacted]', 'n': None}`},
	"Python's bytes":         {`{'password': b'hunter\'2', 'n': None}`, `{'password': b'[redacted]', 'n': None}`},
	"Python's names":         {`User(name='x', password='hunter2')`, `User(name='x', password='[redacted]')`},
	"JavaScript":             {`{ name: "x", password: "hunter2" }`, `{ name: "x", password: "[redacted]" }`},
	"Ruby":                   {`{"password" => "hunter2"}`, `{"password" => "[redacted]"}`},
	"a query":                {`https://h/p?user=x&Password=hunter2&n=1#f`, `https://h/p?user=x&Password=[redacted]&n=1#f`},
	"a query's end":          {`see https://h/p?password=hunter2, or not`, `see https://h/p?password=[redacted] or not`},
	"an environment":         {"USER=x\nPASSWORD=hunter2\n", "USER=x\nPASSWORD=[redacted]\n"},
	"an argument":            {`run --password=hunter2 --n`, `run --password=[redacted] --n`},
	"YAML":                   {"user: x\n- password: hunter2 # y\n  n: 1\n", "user: x\n- password: [redacted]\n  n: 1\n"},
	"YAML in quotes":         {"password: \"hunter2\"\r\nn: 1\r\n", "password: \"[redacted]\"\r\nn: 1\r\n"},
	"YAML's blocks":          {"a:\n  password: |\n    hunter2\n\n    more\n  n: 1\n", "a:\n  password: [redacted]\n  n: 1\n"},
	"YAML's mappings":        {"password:\n  a: hunter2\nn: 1\n", "password: [redacted]\nn: 1\n"},
	"XML":                    {`<u><password>hunter2</password><n password="hunter2"/></u>`, `<u><password>[redacted]</password><n password="[redacted]"/></u>`},
}

func TestFieldsAreRedactedInEveryShape(t *testing.T) {
	s := compile(t, false, access.Rule{Action: access.ActionRedact, Fields: []string{"password"}})
	list := s.Decide(nil, access.Target{}).Redact
	for name, c := range shapes {
		if got := access.RedactText(c.in, list, access.InResults); got != c.want {
			t.Errorf("%s:\n%s\nbecomes\n%s\nwant\n%s", name, c.in, got, c.want)
		}
		in, want := `{"content":[{"text":`+quoted(c.in, 1)+`}]}`, `{"content":[{"text":`+quoted(c.want, 1)+`}]}`
		if got := string(access.Redact([]byte(in), list, access.InResults)); got != want {
			t.Errorf("%s, in a result: %s, want %s", name, got, want)
		}
		if again := access.RedactText(c.want, list, access.InResults); again != c.want {
			t.Errorf("%s, once more: %s", name, again)
		}
	}
}

func TestTextsWithoutTheFieldKeepTheirBytes(t *testing.T) {
	s := compile(t, false, access.Rule{Action: access.ActionRedact, Fields: []string{"password"}})
	list := s.Decide(nil, access.Target{}).Redact
	for _, text := range []string{
		"", "password", `"password"`, `["password","x"]`, `Your password: see the wiki.`, `passwords=1`, `my_password=1`, `old-password=1`, `password_hash: 1`,
		`if password == "x" {`, `password::new("x")`, `password://x`, `{"a":"password:"}`, `{ "n" : 1.0 , "u" : "\u0061" }`, `<password/>`, "password:\nn: 1\n", "{\"password\":",
		`C:\users\password\x`, "\"", "\\", "{", "[", `{"`, `"\`,
	} {
		if got := access.RedactText(text, list, access.InResults); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A value may begin at every byte of a text. Parsing on from each of them would take minutes.
func TestHostileTextsAreRedactedInLinearTime(t *testing.T) {
	s := compile(t, false, access.Rule{Action: access.ActionRedact, Fields: []string{"password"}})
	list := s.Decide(nil, access.Target{}).Redact
	const times = 100_000
	long := strings.Repeat("1,", times)
	for _, text := range []string{
		strings.Repeat("[", 400) + long, strings.Repeat(`{"a":`, 400) + long, strings.Repeat("[", times), strings.Repeat(`"\`, times), `"` + strings.Repeat(`\"`, times),
		strings.Repeat("password:", times), strings.Repeat("password=", times), strings.Repeat(`"password"`, times), strings.Repeat(`"password":{`, times),
		strings.Repeat("password:\n", times), strings.Repeat(" ", times) + strings.Repeat("-password ", times), strings.Repeat(`\`, times) + `"password":"` + strings.Repeat(`\`, times),
		strings.Repeat("<password>", times), strings.Repeat("password: |\n", times), strings.Repeat("  password: |\n\n", times),
	} {
		access.RedactText(text, list, access.InResults)
	}
}

func FuzzRedactText(f *testing.F) {
	for _, c := range shapes {
		f.Add(c.in)
	}
	s := compile(f, false, access.Rule{Action: access.ActionRedact, Fields: []string{"password"}})
	list := s.Decide(nil, access.Target{}).Redact
	f.Fuzz(func(t *testing.T, text string) {
		out := access.RedactText(text, list, access.InResults)
		var v struct {
			Password *string `json:"password"`
		}
		if json.Valid([]byte(text)) && json.Unmarshal([]byte(out), &v) == nil && v.Password != nil && *v.Password != access.Redacted {
			t.Fatalf("RedactText(%q) = %q", text, out)
		}
	})
}
