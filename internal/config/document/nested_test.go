package document

import (
	"errors"
	"strings"
	"testing"
)

func TestNestedLists(t *testing.T) {
	path, entry := []string{"hooks", "After"}, []Field{{"matcher", "*"}}
	ours := func(item []byte) bool { return strings.Contains(string(item), `"*"`) }
	for _, c := range []struct{ before, after string }{
		{"", "{\n  \"hooks\": {\n    \"After\": [{\n        \"matcher\": \"*\"\n      }]\n  }\n}\n"},
		{"{}", "{\n  \"hooks\": {\n    \"After\": [{\n        \"matcher\": \"*\"\n      }]\n  }\n}"},
		{"{\"a\":1,\"hooks\":{\"After\":[{\"x\":1}]}}", "{\"a\":1,\"hooks\":{\"After\":[{\"x\":1},{\"matcher\":\"*\"}]}}"},
		{"{\n  \"hooks\": {\"Stop\": []} // mine\n}\n", "{\n  \"hooks\": {\"Stop\": [], \"After\":[{\"matcher\":\"*\"}]} // mine\n}\n"},
	} {
		got, err := AppendItem([]byte(c.before), path, entry)
		if err != nil || string(got) != c.after {
			t.Errorf("%q: %q, %v, want %q", c.before, got, err, c.after)
			continue
		}
		without, err := RemoveItems(got, path, ours)
		if err != nil || strings.Contains(string(without), `"*"`) {
			t.Errorf("%q: without it %q, %v", c.before, without, err)
		}
	}
	for _, odd := range []string{`{"hooks": "none"}`, `{"hooks": {"After": {}}}`, `{"hooks": []}`} {
		if got, err := AppendItem([]byte(odd), path, entry); !errors.Is(err, ErrInline) {
			t.Errorf("%s: %s, %v", odd, got, err)
		}
		if got, err := RemoveItems([]byte(odd), path, ours); err != nil || string(got) != odd {
			t.Errorf("%s: %s, %v", odd, got, err)
		}
	}
}

func TestNestedTexts(t *testing.T) {
	path := []string{"env", "URL"}
	for before, after := range map[string]string{
		`{"env":{"A":"1"}}`:           `{"env":{"A":"1","URL":"x"}}`,
		`{"env":{"URL":"y","B":"2"}}`: `{"env":{"URL":"x","B":"2"}}`,
	} {
		got, err := SetText([]byte(before), path, "x")
		if err != nil || string(got) != after {
			t.Errorf("%s: %s, %v", before, got, err)
		}
		if value, ok := At(got, path); !ok || string(value) != `"x"` {
			t.Errorf("%s: %s", got, value)
		}
		gone, err := RemoveMember(got, path)
		if _, there := At(gone, path); err != nil || there {
			t.Errorf("%s, %v", gone, err)
		}
	}
	if _, err := SetText([]byte(`{"env": 1}`), path, "x"); !errors.Is(err, ErrInline) {
		t.Errorf("%v", err)
	}
}
