package excerpt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/prune/excerpt"
)

// Under a schema only elements of arrays and free strings go; names, values and records stay whole.
func TestAStructuredDocumentKeepsItsShape(t *testing.T) {
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"record number %d","state":"open"}`, i, i*7))
	}
	array := strings.Join(rows, ",")
	page := strings.ReplaceAll(strings.Repeat("A paragraph about something else.\n", 700), "\n", `\n`)
	record := `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id","title","state"]}`
	for name, c := range map[string]struct {
		doc, schema string
		isCut       bool
	}{
		"an array beside which a member may stand": {`{"total":400,"rows":[` + array + `],"next":null}`, `{"type":"object","properties":{"rows":{"type":"array","items":` + record + `}}}`, true},
		"a closed object":                          {`{"rows":[` + array + `]}`, `{"type":"object","additionalProperties":false,"properties":{"rows":{"type":"array","items":` + record + `}}}`, false},
		"a free string":                            {`{"content":"` + page + `"}`, `{"type":"object","additionalProperties":false,"properties":{"content":{"type":"string"}}}`, true},
		"a string of a form":                       {`{"content":"` + page + `"}`, `{"type":"object","properties":{"content":{"type":"string","maxLength":99999}}}`, false},
		"nested":                                   {`{"groups":[{"rows":[` + array + `]},{"rows":[]}]}`, `{"properties":{"groups":{"type":"array","minItems":2,"items":{"type":"object","properties":{"rows":{"type":"array","items":` + record + `}}}}}}`, true},
	} {
		out, ok := excerpt.Cut(excerpt.Request{Text: c.doc, Target: 4000, ID: "prn_X", Structured: true, Schema: []byte(c.schema), Goal: excerpt.Goal{Call: "record number 1400"}})
		if ok != c.isCut {
			t.Errorf("%s: cut %t, %.200s", name, ok, out)
			continue
		}
		if !ok {
			continue
		}
		var value map[string]json.RawMessage
		if err := json.Unmarshal([]byte(out), &value); err != nil || len(out) > 6000 || strings.Count(out, "id=prn_X") != 1 {
			t.Errorf("%s: %v, %d bytes: %s", name, err, len(out), out)
		}
		records := strings.Count(out, `"id":`)
		if records != strings.Count(out, `"title":`) || records != strings.Count(out, `"state":"open"}`) {
			t.Errorf("%s: records lost members: %s", name, out)
		}
		if strings.Contains(c.doc, `"total"`) && (string(value["total"]) != "400" || string(value["next"]) != "null" || !strings.Contains(out, `"record number 1400"`)) {
			t.Errorf("%s: %s", name, out)
		}
	}
}
