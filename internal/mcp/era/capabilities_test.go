package era_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/era"
)

func TestNormalCapabilities(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"members by name, at every level, without space", ` { "sampling" : { "tools":{}, "context" :{ } } ,"roots":{"listChanged":true}} `, `{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}`},
		{"one spelling of strings", `{"\u0061\/":"\u0062\"é\u00e9"}`, `{"a/":"b\"éé"}`},
		{"null members go", `{"roots":null,"a":{"b":null},"c":[null]}`, `{"a":{},"c":[null]}`},
		{"numbers stay", `{"a":12345678901234567890,"b":1.50,"c":-0}`, `{"a":12345678901234567890,"b":1.50,"c":-0}`},
		{"arrays stay in order", `{"a":["z", "a",{"d":1,"c":2}]}`, `{"a":["z","a",{"c":2,"d":1}]}`},
		{"false says something", `{"roots":{"listChanged":false}}`, `{"roots":{"listChanged":false}}`},
		{"of a name that comes twice the last counts", `{"a":1,"b":2,"\u0061":3}`, `{"a":3,"b":2}`},
		{"and be it null", `{"a":1,"a":null}`, `{}`},
		{"nothing", ``, `{}`},
		{"null", `null`, `{}`},
		{"no object", `["roots"]`, `{}`},
		{"more than anybody needs", `{"roots":{},"a":"` + strings.Repeat("a", 64<<10) + `"}`, `{}`},
		{"what nobody can mean", `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `,"b":1}`, `{"a":` + strings.Repeat("[", 255) + "null" + strings.Repeat("]", 255) + `,"b":1}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := string(era.NormalCapabilities([]byte(c.in))); got != c.want {
				t.Errorf("NormalCapabilities(%s) = %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		rule, have, want string
		covers           bool
	}{
		{"nothing is covered by nothing", `{}`, `{}`, true},
		{"nothing is covered by nil", ``, ``, true},
		{"nothing covers something", `{}`, `{"roots":{}}`, false},
		{"more covers less", `{"roots":{},"sampling":{}}`, `{"roots":{}}`, true},
		{"deeper", `{"sampling":{"tools":{}}}`, `{"sampling":{}}`, true},
		{"less deep", `{"sampling":{}}`, `{"sampling":{"tools":{}}}`, false},
		{"false asks for nothing", `{}`, `{"roots":false,"x":{"y":false}}`, false},
		{"false within asks for nothing", `{"x":{}}`, `{"roots":false,"x":{"y":false}}`, true},
		{"true", `{"roots":{"listChanged":true}}`, `{"roots":{"listChanged":true}}`, true},
		{"true is not false", `{"roots":{"listChanged":false}}`, `{"roots":{"listChanged":true}}`, false},
		{"an object is as good as true", `{"x":{"y":{}}}`, `{"x":{"y":true}}`, true},
		{"null asks for nothing", `{}`, `{"roots":null}`, true},
		{"null offers nothing", `{"roots":null}`, `{"roots":{}}`, false},
		{"elicitation means forms", `{"elicitation":{"form":{}}}`, `{"elicitation":{}}`, true},
		{"and the other way round", `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, true},
		{"elicitation does not mean URLs", `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`, false},
		{"URLs do not mean forms", `{"elicitation":{"url":{}}}`, `{"elicitation":{}}`, false},
		{"forms and URLs", `{"elicitation":{"url":{},"form":{}}}`, `{"elicitation":{}}`, true},
		{"arrays are sets", `{"x":["b","a"]}`, `{"x":["\u0061"]}`, true},
		{"a smaller set", `{"x":["a"]}`, `{"x":["a","b"]}`, false},
		{"values", `{"x":"1"}`, `{"x":"1"}`, true},
		{"other values", `{"x":"1"}`, `{"x":"2"}`, false},
		{"another kind", `{"x":[]}`, `{"x":{}}`, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := era.Covers([]byte(c.have), []byte(c.want)); got != c.covers {
				t.Errorf("Covers(%s, %s) = %v", c.have, c.want, got)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	for _, c := range []struct{ rule, a, b, want string }{
		{"of different members", `{"sampling":{}}`, `{"roots":{"listChanged":true}}`, `{"roots":{"listChanged":true},"sampling":{}}`},
		{"of the same member", `{"sampling":{"tools":{}}}`, `{"sampling":{"context":{}}}`, `{"sampling":{"context":{},"tools":{}}}`},
		{"yes wins over no", `{"roots":{"listChanged":false}}`, `{"roots":{"listChanged":true}}`, `{"roots":{"listChanged":true}}`},
		{"a value wins over no", `{"x":false}`, `{"x":"1"}`, `{"x":"1"}`},
		{"elicitation alone stays as it is", `{"elicitation":{}}`, `{"roots":{}}`, `{"elicitation":{},"roots":{}}`},
		{"elicitation twice stays as it is", `{"elicitation":{}}`, `{"elicitation":{}}`, `{"elicitation":{}}`},
		{"forms are not lost beside URLs", `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{},"url":{}}}`},
		{"arrays are sets", `{"x":["b","a"]}`, `{"x":["c","a"]}`, `{"x":["a","b","c"]}`},
		{"the same array stays in order", `{"x":["b","a"]}`, `{"x":["b","a"]}`, `{"x":["b","a"]}`},
		{"of values one", `{"x":"1"}`, `{"x":"2"}`, `{"x":"2"}`},
		{"of kinds the one that says most", `{"x":true,"y":{"a":1}}`, `{"x":{"a":1},"y":["a"]}`, `{"x":{"a":1},"y":{"a":1}}`},
		{"with nothing", ``, ` {"a":1} `, `{"a":1}`},
		{"of nothing", `null`, `7`, `{}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, got := range [][]byte{era.Union([]byte(c.a), []byte(c.b)), era.Union([]byte(c.b), []byte(c.a))} {
				if string(got) != c.want {
					t.Errorf("Union(%s, %s) = %s, want %s", c.a, c.b, got, c.want)
				}
			}
		})
	}
}

// capabilities generates what clients may declare. Each setting has only one value, because a union
// cannot cover two.
func capabilities(depth int) *rapid.Generator[string] {
	names := rapid.SampledFrom([]string{`"roots"`, `"elicitation"`, `"form"`, `"url"`, `"\u0066orm"`, `"sampling"`, `"a"`})
	return rapid.Custom(func(t *rapid.T) string {
		var parts []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			value := rapid.SampledFrom([]string{"{}", "true", "false", "null", " { } "}).Draw(t, "value")
			if depth > 0 && rapid.Bool().Draw(t, "nested") {
				value = capabilities(depth-1).Draw(t, "inner")
			}
			parts = append(parts, names.Draw(t, "name")+":"+value)
		}
		if rapid.Bool().Draw(t, "list") {
			parts = append(parts, `"list":[`+strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{`"x"`, `"y"`, `{"b":1,"a":2}`}), 0, 3).Draw(t, "elements"), ",")+`]`)
		}
		return "{" + strings.Join(parts, " , ") + "}"
	})
}

func TestCapabilitiesAreConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := []byte(capabilities(2).Draw(t, "a")), []byte(capabilities(2).Draw(t, "b")), []byte(capabilities(2).Draw(t, "c"))
		normal, union := era.NormalCapabilities(a), era.Union(a, b)
		var compact bytes.Buffer
		if err := json.Compact(&compact, normal); err != nil || !bytes.Equal(compact.Bytes(), normal) {
			t.Fatalf("NormalCapabilities(%s) = %s, %v", a, normal, err)
		}
		for rule, holds := range map[string]bool{
			"normal is normal":               bytes.Equal(era.NormalCapabilities(normal), normal),
			"normal says the same":           era.Covers(normal, a) && era.Covers(a, normal),
			"the union is normal":            bytes.Equal(era.NormalCapabilities(union), union),
			"the union covers both":          era.Covers(union, a) && era.Covers(union, b),
			"the order does not matter":      bytes.Equal(era.Union(b, a), union),
			"with itself it is itself":       bytes.Equal(era.Union(a, a), normal),
			"everything covers nothing":      era.Covers(a, nil),
			"what covers the union does all": !era.Covers(c, union) || era.Covers(c, a) && era.Covers(c, b),
			"legacy asks for no more":        era.Covers(a, era.ForLegacy(a)),
		} {
			if !holds {
				t.Fatalf("not for %s, %s, %s (union %s): %s", a, b, c, union, rule)
			}
		}
	})
}

func TestDeclares(t *testing.T) {
	for _, c := range []struct {
		rule, caps, method, params string
		may                        bool
	}{
		{"ping always", ``, "ping", ``, true},
		{"roots", `{"roots":{}}`, "roots/list", ``, true},
		{"roots, not declared", `{"sampling":{}}`, "roots/list", `{}`, false},
		{"roots, null", `{"roots":null}`, "roots/list", ``, false},
		{"roots, false", `{"roots":false}`, "roots/list", ``, false},
		{"sampling", `{"sampling":{}}`, "sampling/createMessage", `{"messages":[]}`, true},
		{"sampling, not declared", `{}`, "sampling/createMessage", `{"messages":[]}`, false},
		{"sampling with tools", `{"sampling":{"tools":{}}}`, "sampling/createMessage", `{"tools":[]}`, true},
		{"sampling with tools, not declared", `{"sampling":{}}`, "sampling/createMessage", `{"\u0074ools":[]}`, false},
		{"sampling with a choice of tools, not declared", `{"sampling":{"context":{}}}`, "sampling/createMessage", `{"toolChoice":{"mode":"auto"}}`, false},
		{"sampling with tools that are null", `{"sampling":{}}`, "sampling/createMessage", `{"tools":null,"toolChoice":null}`, true},
		{"a form", `{"elicitation":{"form":{}}}`, "elicitation/create", `{"mode":"form"}`, true},
		{"a form without a word", `{"elicitation":{}}`, "elicitation/create", `{"message":"m"}`, true},
		{"a form where elicitation says other things", `{"elicitation":{"x":{}}}`, "elicitation/create", `{}`, true},
		{"a form where only URLs are declared", `{"elicitation":{"url":{}}}`, "elicitation/create", `{}`, false},
		{"a URL", `{"elicitation":{"url":{}}}`, "elicitation/create", `{"m\u006fde":"url"}`, true},
		{"a URL where it is not declared", `{"elicitation":{}}`, "elicitation/create", `{"mode":"url"}`, false},
		{"a mode that is not known", `{"elicitation":{"voice":{}}}`, "elicitation/create", `{"mode":"voice"}`, false},
		{"a mode that is no string", `{"elicitation":{}}`, "elicitation/create", `{"mode":7}`, false},
		{"elicitation, not declared", `{}`, "elicitation/create", `{}`, false},
		{"anything else", `{"tasks":{"list":{}}}`, "tasks/list", `{}`, false},
		{"capabilities that are no object", `["roots"]`, "roots/list", `{}`, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := era.Declares([]byte(c.caps), c.method, []byte(c.params)); got != c.may {
				t.Errorf("Declares(%s, %s, %s) = %v", c.caps, c.method, c.params, got)
			}
		})
	}
}

func TestForLegacy(t *testing.T) {
	checkEdited(t, era.ForLegacy, []editedCase{
		{"modern tasks go", `{"extensions":{"~tasks":{},"~ui":{"mimeTypes":["x"]}},"roots":{}}`, `{"extensions":{"~ui":{"mimeTypes":["x"]}},"roots":{}}`},
		{"extensions left empty go", `{"roots":{},"extensions":{"io.modelcontextprotocol\/tasks":{}}}`, `{"roots":{}}`},
		{"legacy tasks stay", `{"tasks":{"list":{}},"experimental":{"~tasks":{}}}`, ""},
		{"other extensions stay", `{"extensions":{"com.example/x":{}}}`, ""},
	})
	for _, none := range []string{"", "null", "[]"} {
		if got := string(era.ForLegacy([]byte(none))); got != `{}` {
			t.Errorf("ForLegacy(%s) = %s", none, got)
		}
	}
}
