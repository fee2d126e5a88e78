package excerpt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsLeftOfJSONIsJSONOfTheSameShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := anyJSON(t, 0)
		checkDerived(t, doc, rapid.IntRange(1, 2000).Draw(t, "target"))
	})
}

// checkDerived shortens a document and compares what is left with it.
func checkDerived(t rapid.TB, doc string, target int) {
	before, err := decoded(doc)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := Cut(Request{Text: doc, Target: target, ID: "prn_X", Goal: Goal{Call: "name 100000"}})
	if !ok {
		return
	}
	after, err := decoded(out)
	if err != nil {
		t.Fatalf("%v in %s, left of %s", err, out, doc)
	}
	if err := derived(before, after); err != nil {
		t.Fatalf("%v: %s, left of %s", err, out, doc)
	}
}

// anyJSON draws a document: tables, lists and objects within each other, pretty or not.
func anyJSON(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if depth > 3 {
		kind = 3
	}
	space := rapid.SampledFrom([]string{"", " ", "\n  "}).Draw(t, "space")
	var parts []string
	switch n := rapid.IntRange(0, 12).Draw(t, "n"); kind {
	case 0:
		for i := range n {
			parts = append(parts, fmt.Sprintf(`"k%d":%s%s`, i, space, anyJSON(t, depth+1)))
		}
		return "{" + space + strings.Join(parts, ","+space) + space + "}"
	case 1:
		for range n {
			parts = append(parts, anyJSON(t, depth+1))
		}
		return "[" + space + strings.Join(parts, ","+space) + space + "]"
	case 2:
		for i := range 3 * n {
			parts = append(parts, fmt.Sprintf(`{"id":%s%d,"note":%s,"same":"constant value","odd\u0020key":[%d,-1.50e3]}`, space, i,
				anyScalar(t), i))
		}
		return "[" + strings.Join(parts, ","+space) + "]"
	}
	if depth == 0 {
		return "[" + anyScalar(t) + "]"
	}
	return anyScalar(t)
}

func anyScalar(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "1e400", "-0", "12345678901234567890", `""`, `"\ud83d\ude00 \"quoted\" \\ back"`, `"}],{"`}),
		rapid.Custom(func(t *rapid.T) string {
			raw, _ := json.Marshal(rapid.StringN(0, 60, -1).Draw(t, "text"))
			return string(raw)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`"%s"`, strings.Repeat("some words ", rapid.IntRange(0, 40).Draw(t, "words")))
		}),
	).Draw(t, "scalar")
}

func FuzzCutJSON(f *testing.F) {
	f.Add(records(30), 600)
	f.Add(`{"a":{"b":[1,2,3,{"c":"`+strings.Repeat("x ", 200)+`"}],"d":null},"e":"f"}`, 40)
	f.Add(`{"a":1,"a":2}`, 3)
	f.Fuzz(func(t *testing.T, doc string, target int) {
		if len(doc) > 1<<16 || target < 1 || target > 1<<20 {
			return
		}
		out, ok := Cut(Request{Text: doc, Target: target, ID: "prn_X"})
		if !ok || !json.Valid([]byte(doc)) || !strings.ContainsAny(strings.TrimSpace(doc)[:1], "{[") {
			return
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q, left of %q, is not JSON", out, doc)
		}
	})
}

func TestRecordsAreCutByColumnAndByRecord(t *testing.T) {
	doc := records(400)
	out, ok := Cut(Request{Text: doc, Target: 4000, ID: "prn_X", Goal: Goal{Focus: "Person 1683800"}})
	if !ok {
		t.Fatal("nothing was cut")
	}
	if len(out) > 5000 {
		t.Errorf("%d characters are left of a target of 4000", len(out))
	}
	for rule, want := range map[string]string{
		"the first record is whole":              `[{"id":100000,"name":"Person 100000","active":true,"score":0.50,"tags":["a","b"]},{"⟦PRUNED members of items 2-400 id=prn_X names: `,
		"what the goal names stays":              `"name":"Person 1683800"`,
		"runs are announced by their items":      `⟦PRUNED items `,
		"the column that tells records is there": `"id":1683800`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s: no %s in %s", rule, want, out)
		}
	}
	if strings.Contains(strings.TrimPrefix(out, `[{"id":100000,"name":"Person 100000","active":true`), `"active"`) {
		t.Error("a column of equal values is left")
	}
}

func TestWhiteSpaceGoesBeforeValues(t *testing.T) {
	var pretty strings.Builder
	raw := json.RawMessage(records(40))
	e := json.NewEncoder(&pretty)
	e.SetIndent("", "        ")
	if err := e.Encode(raw); err != nil {
		t.Fatal(err)
	}
	out, ok := Cut(Request{Text: pretty.String(), Target: len(raw), ID: "prn_X"})
	if !ok {
		t.Fatal("nothing was cut")
	}
	before, _ := decoded(pretty.String())
	after, err := decoded(out)
	if err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("values are missing in %s", out)
	}
}

func TestAFileThatIsWrappedInJSONIsReadByItsLines(t *testing.T) {
	var file strings.Builder
	for i := range 400 {
		fmt.Fprintf(&file, "setting_%d: the value of number %d\n", i, i*31)
	}
	doc, err := json.Marshal(map[string]any{"path": "conf.yml", "content": file.String()})
	if err != nil {
		t.Fatal(err)
	}
	out, ok := Cut(Request{Text: string(doc), Target: 4000, ID: "prn_X", Goal: Goal{Focus: "setting_333"}})
	var back struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal([]byte(out), &back); err != nil || !ok {
		t.Fatalf("%v in %s", err, out)
	}
	if back.Path != "conf.yml" || !strings.Contains(back.Content, "setting_333: ") || !strings.Contains(back.Content, "⟦PRUNED lines ") {
		t.Errorf("left is %s", back.Content)
	}
}

func BenchmarkCutJSON(b *testing.B) {
	doc := records(12000)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, ok := Cut(Request{Text: doc, Target: 60000, ID: "prn_X", Goal: Goal{Call: "Person 1683800"}}); !ok {
			b.Fatal("nothing was cut")
		}
	}
}

func TestSmallRecordsAreRatedByTheirMembers(t *testing.T) {
	rows := make([]string, 1500)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"name":"record %d","note":"some words about it"}`, i, i*7919)
	}
	doc := `{"call":17,"rows":[` + strings.Join(rows, ",") + `]}`
	out, ok := Cut(Request{Text: doc, Target: len(doc) / 2, ID: "prn_X"})
	if !ok || len(out) < len(doc)/4 || len(out) > 6*len(doc)/10 || strings.Count(out, "some words") != 1 {
		t.Errorf("%d of %d bytes are left: %.300s", len(out), len(doc), out)
	}
}
