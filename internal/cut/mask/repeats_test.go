package mask_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestRepeats(t *testing.T) {
	result := func(structured string) string {
		return `{"content":[{"type":"text","text":"1234567"}],"structuredContent":` + structured + `}`
	}
	for _, c := range []struct{ rule, in, want string }{
		{"the same string", `{"content":"1234567"}`, `{"content":"12<7>567"}`},
		{"the same in other bytes", `{"content":"\u00312345\u0036\u0037"}`, `{"content":"\u00312<7>5\u0036\u0037"}`},
		{"a string that holds it", `{"a":"-1234567-"}`, `{"a":"-1<9>67-"}`},
		{"wherever it stands", `{"a":[{"b":["1234567"]},["1234567"]],"c":{"d":"1234567"}}`, `{"a":[{"b":["12<7>567"]},["12<7>567"]],"c":{"d":"12<7>567"}}`},
		{"another long string", `{"a":"abcdefgh"}`, ""},
		{"a part that is not too long", `{"a":"123456"}`, ""},
		{"names", `{"1234567":1}`, ""},
		{"no object", `"1234567"`, `"12<7>567"`},
		{"nothing", `null`, ""},
	} {
		in, want := result(c.in), ""
		if c.want == "" {
			c.want = c.in
		}
		want = strings.Replace(result(c.want), `"text":"1234567"`, `"text":"12<7>567"`, 1)
		if got := masked(t, in, ""); got != want {
			t.Errorf("%s: %s, want %s", c.rule, got, want)
		}
	}
}

func TestRepeatsOfJSON(t *testing.T) {
	in := `{"structuredContent":{"a":"x\"y\n12345","b":"abcdefgh"},"content":[{"type":"text","text":"{\"a\":\"x\\\"y\\n12345\",\"c\":1}"}]}`
	want := `{"structuredContent":{"a":"x\"<9>345","b":"abcdefgh"},"content":[{"type":"text","text":"{\"<25>:1}"}]}`
	if got := masked(t, in, ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRepeatsWithoutACut(t *testing.T) {
	for _, in := range []string{
		`{"content":[{"type":"text","text":"123"}],"structuredContent":{"a":"1234567"}}`,
		`{"content":[{"type":"image","data":"1234567"}],"structuredContent":{"a":"1234567"}}`,
		`{"content":[{"type":"text","text":"1234567"}]}`,
	} {
		m := newMasker(t, short("<{orig}>"))
		cuts := m.TextCuts([]byte(in), m.LongString())
		if got := m.WithRepeats([]byte(in), cuts, nil); len(got) != len(cuts) {
			t.Errorf("%s: %d cuts, want %d", in, len(got), len(cuts))
		}
	}
}

func TestPrescribedStringsAreLeft(t *testing.T) {
	const cut, left = true, false
	at := func(property string) string { return `{"type":"object","properties":{"a":` + property + `}}` }
	for _, c := range []struct {
		rule, structured, schema string
		cut                      bool
	}{
		{"a plain string", `{"a":"1234567"}`, at(`{"type":"string","description":"enum pattern"}`), cut},
		{"enum", `{"a":"1234567"}`, at(`{"enum":["1234567"]}`), left},
		{"const", `{"a":"1234567"}`, at(`{"const":"1234567"}`), left},
		{"pattern", `{"a":"1234567"}`, at(`{"type":"string","pattern":"^[0-9]*$"}`), left},
		{"maxLength", `{"a":"1234567"}`, at(`{"type":"string","maxLength":7}`), left},
		{"minLength", `{"a":"1234567"}`, at(`{"type":"string","minLength":7}`), left},
		{"format", `{"a":"1234567"}`, at(`{"type":"string","format":"uri"}`), left},
		{"contentEncoding", `{"a":"1234567"}`, at(`{"type":"string","contentEncoding":"base64"}`), left},
		{"of another property", `{"a":"1234567"}`, `{"properties":{"b":{"format":"uri"},"a":{}}}`, cut},
		{"of a property that is called so", `{"a":"1234567"}`, `{"properties":{"format":{},"pattern":{}}}`, cut},
		{"elements", `{"a":["1234567"]}`, at(`{"type":"array","items":{"format":"uri"}}`), left},
		{"first elements", `{"a":["1234567"]}`, at(`{"prefixItems":[{"format":"uri"}]}`), left},
		{"elements that are free", `{"a":["1234567"]}`, at(`{"format":"uri","items":{"type":"string"}}`), cut},
		{"every property", `{"a":"1234567"}`, `{"additionalProperties":{"maxLength":9}}`, left},
		{"properties by pattern", `{"a":"1234567"}`, `{"patternProperties":{"^a":{"maxLength":9}}}`, left},
		{"a reference", `{"a":{"b":"1234567"}}`, `{"$defs":{"x":{"properties":{"b":{"$ref":"#/$defs/y~1z"}}},"y/z":{"pattern":"1"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`, left},
		{"a reference to what is free", `{"a":"1234567"}`, `{"$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}}}`, cut},
		{"a reference into a list", `{"a":"1234567"}`, `{"allOf":[{"x":1},{"pattern":"1"}],"properties":{"a":{"$ref":"#/allOf/1"}}}`, left},
		{"a reference that goes round", `{"a":{"a":"1234567"}}`, `{"properties":{"a":{"$ref":"#"}}}`, cut},
		{"a reference that leads nowhere", `{"a":"1234567"}`, at(`{"$ref":"#/$defs/none"}`), left},
		{"a reference elsewhere", `{"a":"1234567"}`, at(`{"$ref":"https://example.com/schema"}`), left},
		{"a reference by anchor", `{"a":"1234567"}`, at(`{"$ref":"#here"}`), left},
		{"a dynamic reference", `{"a":"1234567"}`, at(`{"$dynamicRef":"#x"}`), left},
		{"one of several", `{"a":"1234567"}`, at(`{"anyOf":[{"type":"null"},{"type":"string","format":"date"}]}`), left},
		{"conditions", `{"a":"1234567"}`, `{"if":{"x":1},"then":{"properties":{"a":{"pattern":"1"}}}}`, left},
		{"true and false", `{"a":"1234567"}`, `{"properties":{"a":true},"additionalProperties":false}`, cut},
		{"the whole", `"1234567"`, `{"format":"uri"}`, left},
		{"no schema at all", `{"a":"1234567"}`, `"nonsense"`, cut},
	} {
		in := `{"structuredContent":` + c.structured + `,"content":[{"type":"text","text":"1234567"}]}`
		want := strings.Count(masked(t, in, c.schema), "<7>") == 2
		if want != c.cut {
			t.Errorf("%s: cut %v, want %v", c.rule, want, c.cut)
		}
	}
}

// Many strings and a schema that branches at every step must not be slow.
func TestRepeatsAreBounded(t *testing.T) {
	m := newMasker(t, short("<{orig}>"))
	var content, structured []string
	for i := range 3000 {
		content = append(content, fmt.Sprintf(`{"type":"text","text":"%s%d"}`, strings.Repeat("x", 1000), i))
		structured = append(structured, fmt.Sprintf(`"%s-%s%d"`, strings.Repeat("x", 500), strings.Repeat("x", 500), i), fmt.Sprintf(`"%s%d"`, strings.Repeat("x", 1000), i))
	}
	in := []byte(`{"content":[` + strings.Join(content, ",") + `],"structuredContent":{"a":[` + strings.Join(structured, ",") + `]}}`)
	schema := `{"anyOf":[` + strings.Repeat(`{"properties":{"a":{"items":{"$ref":"#"}}}},`, 2000) + `{}]}`
	cuts := m.TextCuts(in, m.LongString())
	if got := len(m.WithRepeats(in, cuts, []byte(schema))); got != len(cuts) {
		t.Errorf("%d cuts, want %d: of a schema that cannot be followed all strings are left", got, len(cuts))
	}
	if got := len(m.WithRepeats(in, cuts, nil)); got != 2*len(cuts) {
		t.Errorf("%d cuts, want %d", got, 2*len(cuts))
	}
}

// masked returns a result with all its cuts made.
func masked(t *testing.T, in, schema string) string {
	t.Helper()
	m := newMasker(t, short("<{orig}>"))
	doc := []byte(in)
	return string(m.Append(nil, doc, m.WithRepeats(doc, m.TextCuts(doc, m.LongString()), []byte(schema))))
}
