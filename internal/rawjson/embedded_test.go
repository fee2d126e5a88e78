package rawjson_test

import (
	"strings"
	"testing"

	"secateur/internal/rawjson"
)

func TestEmbeddedIsTheOneBigStringWithLines(t *testing.T) {
	lines := strings.Repeat("one line of it\n", 200)
	quoted := string(rawjson.AppendQuoted(nil, lines))
	for name, c := range map[string]struct {
		doc  string
		want bool
	}{
		"an output":          {`{"output":` + quoted + `,"metadata":{"exit_code":0}}`, true},
		"a list of results":  {`[{"query":"ls","result":` + quoted + `}]` + "\n", true},
		"lines of its own":   {"{\n\"output\":" + quoted + "}", false},
		"no JSON":            {`{"output":` + quoted, false},
		"a string alone":     {quoted, false},
		"two of a size":      {`[` + quoted + `,` + quoted + `,` + quoted + `]`, false},
		"one line":           {`{"a":"` + strings.Repeat("x", 4000) + `"}`, false},
		"little":             {`{"a":"b\nc"}`, false},
		"nothing":            {"", false},
		"many small strings": {`["` + strings.Repeat(`a\nb","`, 1000) + `"]`, false},
	} {
		s, ok := rawjson.Embedded(c.doc)
		if ok != c.want {
			t.Errorf("%s: found %v", name, ok)
		}
		if ok && rawjson.Unquote([]byte(c.doc[s.Start:s.End])) != lines {
			t.Errorf("%s: %q", name, c.doc[s.Start:s.End])
		}
	}
}
