package mask_test

import (
	"strings"
	"testing"

	"secateur/internal/cut/mask"
)

// A marker for elements that are left out goes only where the schema accepts it.
func TestMarkersGoWhereTheSchemaAcceptsThem(t *testing.T) {
	rows := []mask.Step{{Name: "rows"}}
	in := func(array string) string { return `{"type":"object","properties":{"rows":` + array + `}}` }
	closed := func(array string) string {
		return `{"type":"object","additionalProperties":false,"properties":{"rows":` + array + `}}`
	}
	for _, c := range []struct {
		rule, schema string
		objects      bool
		want         mask.Place
	}{
		{"any elements", closed(`{"type":"array"}`), true, mask.AmongItems},
		{"any strings", closed(`{"type":"array","items":{"type":"string"}}`), false, mask.AmongTexts},
		{"strings or null", closed(`{"type":"array","items":{"type":["string","null"]}}`), false, mask.AmongTexts},
		{"strings of a form, beside", in(`{"type":"array","items":{"type":"string","format":"uri"}}`), false, mask.BesideArray},
		{"strings of a form, closed", closed(`{"type":"array","items":{"type":"string","enum":["a"]}}`), false, mask.NoPlace},
		{"numbers, beside", in(`{"type":"array","items":{"type":"number"}}`), false, mask.BesideArray},
		{"open records", closed(`{"type":"array","items":{"type":"object","properties":{"id":{}}}}`), true, mask.AmongItems},
		{"records with duties, beside", in(`{"type":"array","items":{"type":"object","required":["id"]}}`), true, mask.BesideArray},
		{"records with duties, closed", closed(`{"type":"array","items":{"type":"object","required":["id"]}}`), true, mask.NoPlace},
		{"closed records", closed(`{"type":"array","items":{"type":"object","additionalProperties":false}}`), true, mask.NoPlace},
		{"a least length", in(`{"type":"array","minItems":3}`), true, mask.NoPlace},
		{"places with meanings", in(`{"type":"array","prefixItems":[{"type":"string"}]}`), true, mask.NoPlace},
		{"an element that must be there", in(`{"type":"array","contains":{"type":"string"}}`), true, mask.NoPlace},
		{"an array or nothing", in(`{"anyOf":[{"type":"array","items":{"type":"object","required":["id"]}},{"type":"null"}]}`), true, mask.BesideArray},
		{"one of several", in(`{"oneOf":[{"type":"array","items":{"type":"object"}},{"type":"array"}]}`), true, mask.NoPlace},
		{"a condition", `{"if":{"required":["rows"]},"then":{"properties":{"rows":{"type":"array"}}}}`, true, mask.NoPlace},
		{"a reference", `{"type":"object","properties":{"rows":{"$ref":"#/$defs/r"}},"$defs":{"r":{"type":"array","items":{"type":"string"}}}}`, false, mask.AmongTexts},
		{"a reference to elsewhere", in(`{"$ref":"https://example.com/r"}`), true, mask.NoPlace},
	} {
		if got := mask.MarkerPlace([]byte(c.schema), rows, c.objects); got != c.want {
			t.Errorf("%s: %d, want %d", c.rule, got, c.want)
		}
	}
}

// Texts share the room of a result: short ones stay, the longest are cut to equal lengths.
func TestTextsShareTheRoomOfAResult(t *testing.T) {
	doc := func(sizes ...int) []byte {
		var blocks []string
		for _, n := range sizes {
			blocks = append(blocks, `{"type":"text","text":"`+strings.Repeat("é", n)+`"}`)
		}
		return []byte(`{"content":[` + strings.Join(blocks, ",") + `]}`)
	}
	for _, c := range []struct {
		rule  string
		sizes []int
		want  int
	}{
		{"short enough together", []int{1000, 4000}, 0},
		{"one that is too long", []int{5001}, 4000},
		{"too long together", []int{3000, 3000}, 2000},
		{"the longest is cut", []int{1000, 9000}, 3000},
		{"a few short ones stay", []int{100, 100, 9000, 9000}, 1900},
		{"so many that each keeps its least", make([]int, 0), 300},
	} {
		if c.want == 300 {
			for range 100 {
				c.sizes = append(c.sizes, 400)
			}
		}
		if got := mask.RoomFor(doc(c.sizes...), 5000, func(int) int { return 4000 }); got != c.want {
			t.Errorf("%s: %d, want %d", c.rule, got, c.want)
		}
	}
}

// In less room head and tail shrink alike, and the marker has their lengths.
func TestHeadAndTailShrinkAlike(t *testing.T) {
	m, err := mask.New(mask.Settings{MaxChars: 100, HeadChars: 60, TailChars: 20, Marker: "[{head}-{end} {tail} of {orig}, {tool}]"})
	if err != nil {
		t.Fatal(err)
	}
	doc := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 300) + `"}]}`)
	cuts := m.TextCuts(doc, 50)
	cuts[0].Tool = "pruner-recover_chars"
	want := strings.Repeat("x", 30) + "[30-290 10 of 300, pruner-recover_chars]" + strings.Repeat("x", 10)
	if got := string(m.Append(nil, doc, cuts)); !strings.Contains(got, `"`+want+`"`) {
		t.Errorf("%s", got)
	}
}
