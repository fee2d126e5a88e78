package llm

import (
	"strings"
	"testing"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestCompareFindsEveryByte(t *testing.T) {
	const doc = `{"model":"m", "n":1.0,"messages":[{"role":"user","content":[{"type":"tool_result","content":"long","tool_use_id":"t"},{"type":"text","text":"a"}]}]}`
	for name, c := range map[string]struct {
		was, is string
		paths   string // of changed strings
		broken  bool
	}{
		"nothing":        {"", "", "", false},
		"a result":       {`"long"`, `"short"`, "messages.0.content.0.content of tool_result", false},
		"another string": {`"text":"a"`, `"text":"b"`, "messages.0.content.1.text of text", false},
		"a space":        {`"m", `, `"m",`, "", true},
		"a number":       {"1.0", "1", "", true},
		"a name":         {`"tool_use_id"`, `"tool_useid"`, "", true},
		"one more":       {`"a"}`, `"a","x":1}`, "", true},
		"one less":       {`,{"type":"text","text":"a"}`, "", "", true},
		"two swapped":    {`"model":"m", "n":1.0`, `"n":1.0, "model":"m"`, "", true},
		"an escape":      {`"long"`, `"\u006cong"`, "messages.0.content.0.content of tool_result", false},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := Compare([]byte(doc), []byte(strings.Replace(doc, c.was, c.is, 1)))
			if (err != nil) != c.broken {
				t.Errorf("error %v, want one %t", err, c.broken)
			}
			var paths []string
			for _, ch := range changes {
				paths = append(paths, ch.Path+" of "+ch.HolderOf)
			}
			if got := strings.Join(paths, ", "); got != c.paths {
				t.Errorf("changed %q, want %q", got, c.paths)
			}
		})
	}
}

// A form that was sent once is the only one from then on.
func TestFormsMayNotChange(t *testing.T) {
	body := func(results ...string) []byte {
		s := `{"model":"m","messages":[{"role":"user","content":"go"}`
		for _, r := range results {
			s += `,{"role":"user","content":[{"type":"tool_result","content":"` + r + `"}]}`
		}
		return []byte(s + "]}")
	}
	var f Forms
	for i, c := range []struct {
		client, upstream []byte
		same             bool
	}{
		{body("long"), body("cut"), true},
		{body("long", "more"), body("cut", "more"), true},
		{body("other"), body("other"), true}, // another branch
		{body("long", "more", "last"), body("long", "more", "last"), false},
		{body("long"), body("cut", "x"), false},
	} {
		if err := f.Add("/v1/messages", c.client, c.upstream); (err == nil) != c.same {
			t.Errorf("request %d: %v, want the same %t", i, err, c.same)
		}
	}
}
